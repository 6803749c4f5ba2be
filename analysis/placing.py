"""Give rows the attempt that their time falls into, where the source told none."""

import polars as pl


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
