"""Operations that no calendar dates, on a clock of their own."""

from typing import Final

import polars as pl

from ingest.tables import Operations

#: A clock of steps does not go beyond 73 years: nor do 64 bits far beyond it. [ns]
CLOCK_MAX_NS: Final = 2**61

_STEP: Final = ("run_id", "attempt", "step")


def on_a_clock(operations: pl.LazyFrame) -> pl.LazyFrame:
    """Give every operation a start: on the calendar, else on a clock of its own.

    Traces that date nothing tell when operations began since their step did, or since
    the trace did. The first are laid out step after step, without the time between;
    the others have a clock already: a step begins when the one before it is over. Both
    count from zero, as other traces without a base do: nothing that knows the calendar
    takes them for a date (see `in_calendar`).

    Args:
        operations: Rows of Operations.

    Returns:
        The rows, start_ns never null; those that tell no time at all are left out. [ns]
    """
    timed = operations.filter(
        Operations.start_ns.col.is_not_null() | Operations.offset_ns.col.is_not_null()
    )
    begun = _begun(timed.filter(Operations.start_ns.col.is_null()))
    joined = timed.join(begun, on=list(_STEP), how="left", nulls_equal=True)
    own = pl.col("_begun_ns") + Operations.offset_ns.col
    return joined.with_columns(start_ns=pl.coalesce("start_ns", own)).drop("_begun_ns")


def _begun(undated: pl.LazyFrame) -> pl.LazyFrame:
    """Return when the clock of each step began, by run, attempt and step. [ns]"""
    offset = Operations.offset_ns.col
    steps = undated.group_by(_STEP).agg(
        first=offset.min(), last=(offset + Operations.duration_ns.col).max()
    )
    by = list(_STEP[:2])
    before = pl.col("first", "last").shift(1).over(by).name.prefix("old_")
    middle = pl.col("old_first") + (pl.col("old_last") - pl.col("old_first")) // 2
    ordered = steps.sort(_STEP).with_columns(before)
    is_own = (pl.col("first") < middle).fill_null(value=False).any().over(by)
    last = pl.col("last").cast(pl.Int128)
    before_it = (last.cum_sum() - last).over(by)
    laid_out = before_it.clip(upper_bound=CLOCK_MAX_NS).cast(pl.Int64)
    return ordered.select(
        *_STEP, _begun_ns=pl.when(is_own).then(laid_out).otherwise(pl.lit(0))
    )
