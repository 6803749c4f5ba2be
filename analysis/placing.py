"""Where rows belong by their time: in which attempt, and whether in the calendar."""

from typing import Final

import polars as pl

from ingest.times import SECOND_NS

#: Times before the year 2000 are counted from the start of something, not from the
#: epoch: no profiler that is read is that old. [ns]
CLOCKS_FROM_NS: Final = 946_684_800 * SECOND_NS


def in_calendar(rows: pl.LazyFrame, *others: pl.LazyFrame) -> pl.LazyFrame:
    """Leave out rows that count from a moment of their own, where others are dated.

    A trace that was cut off before it told its base has such times. They say nothing
    of when a run was that anything else dates; of a run that has no others, they are
    all that is known, and only their differences mean something.

    Args:
        rows: Rows with `run_id` and `start_ns`. [ns]
        others: What else may date the runs: `run_id` and `start_ns`. [ns]
    """
    is_dated = pl.col("start_ns") >= CLOCKS_FROM_NS
    dated = [
        one.filter(is_dated).select("run_id").unique().collect(engine="streaming")
        for one in (rows, *others)
    ]
    known = pl.concat(dated).unique().with_columns(_dated=pl.lit(value=True))
    joined = rows.join(known.lazy(), on="run_id", how="left")
    return joined.filter(is_dated | pl.col("_dated").is_null()).drop("_dated")


def place(rows: pl.LazyFrame, attempts: pl.LazyFrame, time_column: str) -> pl.LazyFrame:
    """Fill a null `attempt` by time: the last attempt that had started by then.

    Args:
        rows: Rows with `run_id`, a nullable `attempt` and a time.
        attempts: Rows of Attempts.
        time_column: Column of the rows to place them by. [ns]

    Returns:
        The rows, sorted by time, with an attempt in every row: zero before the first
        attempt and for runs without any.
    """
    starts = attempts.select("run_id", _start_ns="start_ns", _placed="attempt").sort(
        "_start_ns"
    )
    joined = rows.sort(time_column).join_asof(
        starts,
        left_on=time_column,
        right_on="_start_ns",
        by="run_id",
        strategy="backward",
        check_sortedness=False,
    )
    attempt = pl.coalesce("attempt", "_placed", pl.lit(0)).cast(pl.Int32)
    return joined.with_columns(attempt=attempt).drop("_placed", "_start_ns")
