"""How long a run is away after an interruption, in the two parts that formulas take."""

from typing import Final

import polars as pl

from analysis.interruptions import Interruptions

#: Causes that take a node along, and with it what was saved on the node alone.
TAKING: Final = ("hardware", "facilities", "maintenance")


def seen_restarts(interruptions: pl.DataFrame) -> pl.DataFrame:
    """Return downtime and restart of each run: means, and medians beside them.

    Downtime lasts from the last completed step (else the end of the attempt) to the
    next start: a hang, its detection, the queue. Restart lasts from there to the first
    new step: start-up and loading. A mean is what a formula of expected cost takes.

    Args:
        interruptions: Rows of Interruptions; planned stops are left out.

    Returns:
        A row for each run with an unplanned one: interruption_count, far_count (those
        that take what is saved on a node along), and downtime_ns,
        downtime_median_ns, restart_ns and restart_median_ns, null where no one was
        followed by a start or a step. [ns]
    """
    stopped = pl.coalesce("last_step_end_ns", "decided_ns")
    away = pl.col("started_ns") - stopped
    loading = pl.col("first_step_ns") - pl.col("started_ns")
    unplanned = interruptions.filter(~Interruptions.planned.col)
    timed = unplanned.with_columns(away=away, loading=loading).sort("run_id", "attempt")
    return timed.group_by("run_id").agg(
        interruption_count=pl.len().cast(pl.Int64),
        far_count=Interruptions.category.col.is_in(TAKING).sum().cast(pl.Int64),
        downtime_ns=_whole(pl.col("away").filter(away >= 0).mean()),
        downtime_median_ns=_whole(pl.col("away").filter(away >= 0).median()),
        restart_ns=_whole(pl.col("loading").filter(loading >= 0).mean()),
        restart_median_ns=_whole(pl.col("loading").filter(loading >= 0).median()),
    )


def _whole(value: pl.Expr) -> pl.Expr:
    return value.round().cast(pl.Int64)
