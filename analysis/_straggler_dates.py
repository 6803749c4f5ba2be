"""The first and the last step of a spell, found among single steps at its edges."""

from collections.abc import Callable, Iterator
from typing import Final

import polars as pl

from analysis._straggler_scores import moment
from analysis._straggler_things import RANK

#: How much likelier it must be that a thing which is slow on the whole was normal at
#: an end of its run, as a logarithm: spells that are known need no such proof. [1]
LIKELIER: Final = 20.0

#: Smallest scatter of single steps: those of a drawn run have none. [1]
_LEAST_SCATTER: Final = 1e-6

_EDGE: Final = ["spell", "is_end"]

#: What is kept of a window about an edge of a spell.
_WINDOW: Final = ("run_id", "scope", "scope_id", "thing", "level", "rest", "is_whole")


#: Returns the compared ranks and stages of the blocks within bounds, by portions.
Near = Callable[[pl.DataFrame], Iterator[tuple[pl.DataFrame, pl.DataFrame]]]


def date(near: Near, spells: pl.DataFrame, cover: pl.DataFrame) -> pl.DataFrame:
    """Date spells to the step, by least absolute deviations.

    Near each edge every single step was either normal, as the thing is in the rest of
    the run, or slow, as it is in the spell. The edge is where the sum of the distances
    to these two levels is least. Wild steps hardly move it.
    Source: least absolute deviations for a change of level, Bai, Econometric Theory 11,
    1995.

    Args:
        near: Returns steps of ranks and stages, of the ranks of spells at least.
        spells: Spells with their bounds by blocks.
        cover: Which things each rank belongs to.

    Returns:
        The spells with `moment_from` and `moment_to` by steps. [1]
    """
    if spells.is_empty():
        return spells
    windows = _windows(spells)
    ranks = cover.select(*RANK, "thing").join(windows, on="thing", how="semi")
    seen = [_values(*portion, windows, ranks) for portion in near(windows)]
    edges = _edges(pl.concat(seen))
    first = edges.filter(~pl.col("is_end")).select("spell", dated_from="moment")
    last = edges.filter("is_end").select("spell", dated_to="moment")
    told = spells.join(first, on="spell", how="left").join(last, on="spell", how="left")
    # both edges of a spell of few steps may be seen in the same one
    is_known = (pl.col("dated_from") <= pl.col("dated_to")).fill_null(value=False)
    return told.with_columns(
        moment_from=pl.when(is_known).then("dated_from").otherwise("moment_from"),
        moment_to=pl.when(is_known).then("dated_to").otherwise("moment_to"),
    ).sort("spell")


def _windows(spells: pl.DataFrame) -> pl.DataFrame:
    """Return where each edge may be: a window to both sides, not into other spells."""
    first, last = pl.col("place_from"), pl.col("place_to")
    middle = (first + last) // 2
    before = last.shift(1).over("thing") + 1
    after = first.shift(-1).over("thing") - 1
    ordered = spells.sort("thing", "place_from")
    onset = ordered.select(
        "spell",
        *_WINDOW,
        place_from=pl.max_horizontal("before_first", before),
        place_to=pl.min_horizontal("after_first", middle),
        is_end=pl.lit(value=False),
    )
    end = ordered.select(
        "spell",
        *_WINDOW,
        place_from=pl.max_horizontal("before_last", middle),
        place_to=pl.min_horizontal("after_last", after),
        is_end=pl.lit(value=True),
    )
    return pl.concat([onset, end])


def _values(
    units: pl.DataFrame,
    stages: pl.DataFrame,
    windows: pl.DataFrame,
    ranks: pl.DataFrame,
) -> pl.DataFrame:
    """Return the single steps of each window: its columns, `moment` and `log`. [1]"""
    place, when = moment("block").alias("place"), moment().alias("moment")
    bounds = windows.select(pl.col("place_from").min(), pl.col("place_to").max())
    near = place.is_between(*bounds.row(0)) & (pl.col("ratio") > 0)
    is_stage = pl.col("scope") == "stage"
    found = units.filter(near).join(ranks, on=list(RANK))
    of_ranks = found.group_by("thing", place, when).agg(pl.col("ratio").median())
    stage = pl.col("scope_id").cast(pl.Int32, strict=False)
    numbers = windows.filter(is_stage).select("run_id", "thing", stage=stage).unique()
    own = stages.filter(near).join(numbers, on=["run_id", "stage"])
    of_stages = own.select("thing", place, when, "ratio")
    within = pl.col("place").is_between(pl.col("place_from"), pl.col("place_to"))
    parts = [
        rows.join(windows.filter(kind), on="thing").filter(within)
        for rows, kind in ((of_ranks, ~is_stage), (of_stages, is_stage))
    ]
    columns = [*_EDGE, "moment", "level", "rest", "is_whole"]
    log = pl.col("ratio").log().alias("log")
    return pl.concat([rows.select(*columns, log) for rows in parts])


def _edges(values: pl.DataFrame) -> pl.DataFrame:
    """Return the step of each edge, null where it is the window's own. [1]

    Going in from outside, the sum of what each step is nearer to normal than to slow is
    least right before the edge.
    """
    towards = pl.when("is_end").then(-pl.col("moment")).otherwise("moment")
    ordered = values.with_columns(order=towards).sort(*_EDGE, "order")
    normal = (pl.col("log") - pl.col("rest")).abs()
    slow = (pl.col("log") - pl.col("level")).abs()
    summed = ordered.with_columns(
        gain=(normal - slow).cum_sum().over(_EDGE),
        scatter=pl.min_horizontal(normal, slow).mean().over(_EDGE),
    )
    scatter = pl.col("scatter").first().clip(_LEAST_SCATTER)
    needed = pl.when(pl.col("is_whole").first()).then(LIKELIER * scatter).otherwise(0.0)
    is_later = pl.col("gain").min() < -needed
    after = pl.col("moment").get(
        (pl.col("gain").arg_min() + 1).clip(0, pl.len() - 1), null_on_oob=True
    )
    edge = pl.when(is_later).then(after).otherwise(pl.col("moment").first())
    return summed.group_by(_EDGE, maintain_order=True).agg(moment=edge)
