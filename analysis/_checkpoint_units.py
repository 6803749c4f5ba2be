"""A run cut at its stops: how long each attempt was up, and how long it was away."""

import polars as pl

from analysis._checkpoint_restarts import TAKING


def units_of(attempts: pl.DataFrame, interruptions: pl.DataFrame) -> pl.DataFrame:
    """Return each attempt as the time it was up and the time away after it.

    It is up from its start to its last completed step, else to its end; away until the
    next start. An attempt without an unplanned stop ended well: its work is kept.

    Args:
        attempts: Rows of Attempts.
        interruptions: Rows of Interruptions.

    Returns:
        Columns run_id, attempt, up_ns, away_ns (zero after the last), is_failed and
        takes_node, in the order of time; undated attempts are left out. [ns]
    """
    stops = interruptions.filter(~pl.col("planned")).select(
        "run_id",
        "attempt",
        is_failed=pl.lit(value=True),
        takes_node=pl.col("category").is_in(TAKING),
    )
    stopped = pl.coalesce("last_step_end_ns", "end_ns").clip(pl.col("start_ns"))
    ordered = attempts.sort("run_id", "start_ns", "attempt").with_columns(
        stopped_ns=stopped,
        next_ns=pl.col("start_ns").shift(-1).over("run_id"),
    )
    return (
        ordered.join(stops, on=["run_id", "attempt"], how="left")
        .with_columns(
            up_ns=pl.col("stopped_ns") - pl.col("start_ns"),
            away_ns=(pl.col("next_ns") - pl.col("stopped_ns")).clip(0).fill_null(0),
            is_failed=pl.col("is_failed").fill_null(value=False),
            takes_node=pl.col("takes_node").fill_null(value=False),
        )
        .select("run_id", "attempt", "up_ns", "away_ns", "is_failed", "takes_node")
    )
