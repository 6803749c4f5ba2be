"""Days of a run, condensed as those of a large one are."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from analysis import Frames, Results
from analysis._rollup import held_day
from analysis.straggler_days import ROLLUP
from analysis.stragglers import find_stragglers
from ingest.tables import StepTimings, Table

DAY = "2023-11-14"


def windows(rows: pl.DataFrame, steps: int) -> list[pl.DataFrame]:
    """Rows in the order of their key, cut every so many steps of an attempt."""
    ordered = rows.sort("attempt", "step", "rank", "start_ns")
    cuts = ordered.with_columns(cut=pl.col("step") // steps)
    return [
        part.drop("cut")
        for part in cuts.partition_by("attempt", "cut", maintain_order=True)
    ]


def condensed(
    log: pl.DataFrame,
    *frames: tuple[type[Table], pl.DataFrame],
    day: str = DAY,
    window: int = 25,
    **thresholds: float,
) -> Results:
    """What is kept of a day whose steps are a log."""
    told = Frames({of: rows.lazy() for of, rows in frames})
    held = held_day("run", day, windows(log, window))
    return ROLLUP.compute(held, told, {**ROLLUP.thresholds, **thresholds})


def joined(
    days: Sequence[Results], *frames: tuple[type[Table], pl.DataFrame]
) -> dict[type[Table], Any]:
    """What is found in days that were condensed, and nothing else."""
    kept = {
        table: pl.concat([day[table] for day in days]).lazy()
        for table in ROLLUP.outputs
    }
    others = {of: rows.lazy() for of, rows in frames if of is not StepTimings}
    return dict(find_stragglers(Frames({**others, **kept})))
