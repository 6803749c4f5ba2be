"""Which run a failure belongs to: the one that reported it, else who held its node."""

import polars as pl

from analysis._failure_events import JOB_SLACK_NS


def lay_to_runs(events: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Lay events that a run's own log tells of to that run.

    Args:
        events: Events with `told_run_id`, and with `run_id` and `attempt` of whoever
            held their node.
        attempts: Rows of Attempts.

    Returns:
        The events, `run_id` and `attempt` corrected. A run that has no attempts is
        not known, and told of nothing.
    """
    starts = attempts.select("start_ns", "end_ns", _attempt="attempt", _run="run_id")
    known = starts.select("_run").unique().with_columns(_known=pl.lit(value=True))
    placed = (
        events.sort("first_ns")
        .join_asof(
            starts.sort("start_ns", "_attempt"),
            left_on="first_ns",
            right_on="start_ns",
            by_left="told_run_id",
            by_right="_run",
            strategy="backward",
            check_sortedness=False,
        )
        .join(known, left_on="told_run_id", right_on="_run", how="left")
    )
    told = pl.when("_known").then("told_run_id")
    in_time = pl.col("first_ns") <= pl.col("end_ns") + JOB_SLACK_NS
    differs = told.is_not_null() & told.ne_missing(pl.col("run_id"))
    own = pl.when(in_time).then("_attempt")
    return placed.with_columns(
        run_id=pl.coalesce(told, "run_id"),
        attempt=pl.when(differs).then(own).otherwise("attempt"),
    ).drop("_attempt", "_known", "start_ns", "end_ns")
