"""Points and bands of the steps of a run, with their words."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports._numbers import duration, percent
from reports._slow_ranks import who
from reports._texts import said_by

#: Columns of tooltips of steps, and of spells.
STEP_TIPS: Final = (
    ("steps", "steps"),
    ("slowest_text", "slowest rank"),
    ("typical_text", "median rank"),
)
SPELL_TIPS: Final = (("who", "who"), ("text", "slower by"), ("steps", "steps"))


def points(bins: pl.DataFrame, width: int, top: float, unit: float) -> pl.DataFrame:
    """Return the points of both lines.

    Args:
        bins: `from_step`, `typical_ns` and `slowest_ns`.
        width: Steps of a point. [1]
        top: Longest step that is drawn as long as it is. [ns]
        unit: Unit of the drawing. [ns]
    """
    last = pl.col("from_step") + width - 1
    steps = phrase("{} to {}", "from_step", last) if width > 1 else None
    return bins.select(
        step=pl.col("from_step") + (width - 1) / 2,
        typical=pl.col("typical_ns").clip(0, top) / unit,
        slowest=pl.col("slowest_ns").clip(0, top) / unit,
        is_above=pl.col("slowest_ns") > top,
        steps=pl.col("from_step").cast(pl.String) if steps is None else steps,
        slowest_text=said_by("slowest_ns", duration),
        typical_text=said_by("typical_ns", duration),
    )


def bands(spells: pl.DataFrame, bins: pl.DataFrame) -> pl.DataFrame:
    """Return a band for each spell, in a lane of its own.

    Args:
        spells: Rows of StragglerRanks.
        bins: Points of the lines, for the middle of the run.
    """
    rows = spells.to_dicts()
    middle = (bins["from_step"].min() + bins["from_step"].max()) / 2  # type: ignore[operator]
    slower = [percent(float(row["slowdown_ratio"]) - 1) for row in rows]
    names = [who(row) for row in rows]
    halves = (pl.col("first_step") + pl.col("last_step")) / 2
    return spells.with_row_index("lane").select(
        pl.col("lane").cast(pl.Int64),
        from_step="first_step",
        to_step=pl.col("last_step") + 1,
        is_late=halves > middle,
        who=pl.Series(names, dtype=pl.String),
        text=pl.Series(slower, dtype=pl.String),
        label=pl.Series(
            [f"{n}: {s} slower" for n, s in zip(names, slower, strict=True)],
            dtype=pl.String,
        ),
        steps=phrase("{} to {}", "first_step", "last_step"),
    )
