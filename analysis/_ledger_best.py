"""The best that traces tell of each step: of its kernels, or of its operations."""

from typing import Final

import polars as pl

from analysis._ledger_ladder import LADDER

#: What tells one step of one rank from another.
_STEP: Final = ("run_id", "attempt", "rank", "step")


def best_cells(devices: pl.LazyFrame, operated: pl.LazyFrame) -> pl.LazyFrame:
    """Keep, of each step of a rank, the windows of the best basis.

    Collectives show how long a rank waited for another stage, and no more. How much of
    that is the schedule's, a replay of the run's operations tells: the excess is then
    for a straggler. Without one all of it is the bubble, and the basis says so.

    Args:
        devices: What `traced_cells` returns.
        operated: What `operated_cells` returns.

    Returns:
        Rows of both, of the columns of `traced_cells`.
    """
    split = _split(devices, operated)
    rows = pl.concat([split, operated.drop("bubble_limit")], how="diagonal_relaxed")
    level = pl.col("basis").replace_strict(
        list(LADDER), range(len(LADDER)), return_dtype=pl.Int64
    )
    is_named = pl.all_horizontal(pl.col(_STEP).is_not_null())
    is_best = level == level.min().over(_STEP)
    return rows.filter(~is_named | is_best)


def _split(devices: pl.LazyFrame, operated: pl.LazyFrame) -> pl.LazyFrame:
    """Take from the bubble of collectives what the schedule does not explain."""
    limits = operated.group_by(_STEP).agg(pl.col("bubble_limit").max())
    told = devices.join(limits, on=list(_STEP), how="left")
    bubble = pl.min_horizontal("pipeline_bubble", "bubble_limit")
    is_whole = (pl.col("basis") == "collectives") & pl.col("bubble_limit").is_null()
    waited = pl.col("pipeline_bubble") > 0
    return told.with_columns(
        pipeline_bubble=bubble,
        straggler_wait=pl.col("straggler_wait") + pl.col("pipeline_bubble") - bubble,
        basis=pl.when(is_whole & waited)
        .then(pl.lit("collectives_whole_bubble"))
        .otherwise("basis"),
    ).drop("bubble_limit")
