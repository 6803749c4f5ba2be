"""What each fault cost: a share of the GPU time of its step."""

from typing import Final

import polars as pl

from analysis._feed_rows import STEP
from analysis._feed_words import COSTS, NO_LOG, NO_SHARE

#: Parts that a share is counted in, so that GPU time stays whole. [1]
_PARTS: Final = 1_000_000_000

_FREE: Final = ("left_out", "restart_skips")


def with_costs(
    faults: pl.DataFrame, facts: pl.DataFrame, times: pl.DataFrame
) -> pl.DataFrame:
    """Add gpu_ns, null where nothing was lost or it is not known, and cost_basis.

    Args:
        faults: Columns of FAULT, batches and replicas (that are at odds).
        facts: Steps with samples, expected and replicas_seen.
        times: What `step_times` returns.
    """
    steps = facts.select(
        *STEP, "expected", _given="samples", _replicas="replicas_seen"
    ).join(times.select(*STEP, "step_gpu_ns"), on=list(STEP), how="left")
    joined = faults.join(steps, on=list(STEP), how="left")
    share = pl.coalesce(
        pl.col("samples") / pl.col("_given"),
        pl.col("replicas") / pl.col("expected"),
        pl.col("batches") / pl.when(pl.col("_replicas") > 0).then("_replicas"),
    ).clip(0, 1)
    parts = (share * _PARTS).round().cast(pl.Int128)
    gpu_ns = pl.col("step_gpu_ns").cast(pl.Int128) * parts // _PARTS
    is_free = pl.col("kind").is_in(_FREE)
    basis = (
        pl.when(is_free | (share.is_not_null() & pl.col("step_gpu_ns").is_not_null()))
        .then(pl.col("kind").replace_strict(COSTS))
        .when(pl.col("step_gpu_ns").is_null())
        .then(pl.lit(NO_LOG))
        .otherwise(pl.lit(NO_SHARE))
    )
    return joined.with_columns(
        gpu_ns=pl.when(~is_free).then(gpu_ns).cast(pl.Decimal(38, 0)), cost_basis=basis
    )
