"""The attempt that the rows of a trace belong to: a trace never spans two."""

import polars as pl

from analysis.placing import place


def place_traces(
    rows: pl.LazyFrame, attempts: pl.LazyFrame, time_column: str
) -> pl.LazyFrame:
    """Fill a null `attempt` by the first time of the trace that a row is in.

    Args:
        rows: Rows with `run_id`, a nullable `attempt`, `trace_id` and a time.
        attempts: Rows of Attempts.
        time_column: Column of the rows to place their trace by. [ns]

    Returns:
        The rows with an attempt in each, in no order.
    """
    trace = ("run_id", "attempt", "trace_id")
    first = rows.group_by(trace).agg(pl.col(time_column).min().alias("_first_ns"))
    told = place(first.with_columns(_told="attempt"), attempts, "_first_ns")
    placed = told.select("run_id", "trace_id", "_told", _attempt="attempt")
    keys = ["run_id", "attempt", "trace_id"], ["run_id", "_told", "trace_id"]
    joined = rows.join(placed, left_on=keys[0], right_on=keys[1], nulls_equal=True)
    return joined.with_columns(attempt="_attempt").drop("_attempt")
