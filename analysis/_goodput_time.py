"""How long each run took, how long it queued, and what its ledger says of the time."""

from collections.abc import Mapping
from typing import Final

import polars as pl

from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.lost_time import LostTime

#: Accounts of a step that counted, without the writing of checkpoints.
TRAINING: Final = (
    "productive",
    "exposed_communication",
    "straggler_wait",
    "pipeline_bubble",
    "data_stall",
    "idle",
)

#: Columns of GPU time, and the accounts that each adds up.
SUMS: Final[Mapping[str, tuple[str, ...]]] = {
    "productive_gpu_ns": ("productive",),
    "training_gpu_ns": TRAINING,
    "checkpoint_stall_gpu_ns": ("checkpoint_stall",),
    "recompute_gpu_ns": ("recompute",),
    "restart_gpu_ns": ("restart",),
    "unallocated_gpu_ns": ("unallocated",),
    "unattributed_gpu_ns": ("unattributed",),
}

#: Evidence that bounds useful work from above: whatever a step did counts as work.
_BOUND: Final = "step_duration_upper_bound"


def account_sums(lost: pl.LazyFrame, by: tuple[str, ...]) -> pl.LazyFrame:
    """Add up the accounts of the ledger.

    Args:
        lost: Rows of LostTime.
        by: Columns to keep apart.

    Returns:
        Columns of `by`, paid_gpu_ns, those of SUMS, is_upper_bound (some useful work
        is only bounded from above) and has_steps (a step is known). [ns]
    """
    time = LostTime.gpu_ns.col.cast(pl.Int128)
    category = LostTime.category.col
    stepped = category.is_in([*TRAINING, "checkpoint_stall", "recompute"])
    sums = {name: time.filter(category.is_in(of)).sum() for name, of in SUMS.items()}
    bounded = (LostTime.basis.col == _BOUND) & (category == "productive")
    return lost.group_by(by).agg(
        paid_gpu_ns=time.sum(),
        **sums,
        is_upper_bound=(bounded & (time > 0)).any(),
        has_steps=(stepped & (time > 0)).any(),
    )


def run_times(attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Return how long each run took. [ns]

    A run begins when its first attempt was submitted, where that is known, and ends
    with its last. It queued between each submission, or the end of the attempt before
    where that was later, and the start that followed.

    Returns:
        Columns run_id, start_ns, end_ns, wall_ns, elapsed_ns (from its first start),
        queue_ns and is_sampled (only traces tell of its steps).
    """
    start, end = Attempts.start_ns.col, Attempts.end_ns.col
    submitted = pl.min_horizontal(Attempts.submit_ns.name, Attempts.start_ns.name)
    before = end.shift(1).over("run_id", order_by=["start_ns", "attempt"])
    asked = pl.max_horizontal(Attempts.submit_ns.col, before)
    queued = (start - asked).clip(0).fill_null(0)
    sampled = (Attempts.step_basis.col == "traces").fill_null(value=False)
    logged = (Attempts.step_basis.col == "steps").fill_null(value=False)
    return (
        attempts.with_columns(queue_ns=queued, _submitted=submitted)
        .group_by("run_id")
        .agg(
            start_ns=pl.col("_submitted").min(),
            end_ns=end.max(),
            elapsed_ns=end.max() - start.min(),
            queue_ns=pl.col("queue_ns").sum(),
            is_sampled=sampled.any() & ~logged.any(),
        )
        .with_columns(wall_ns=pl.col("end_ns") - pl.col("start_ns"))
    )


def training_times(
    lost: pl.LazyFrame, allocations: pl.LazyFrame, attempts: pl.LazyFrame
) -> pl.LazyFrame:
    """Return how long each run trained: GPU time over the ranks of each attempt.

    Returns:
        Columns run_id, training_ns [ns], and rank_gpus, the mean number of ranks over
        the time of attempts. [1]
    """
    keys = ["run_id", "attempt"]
    held = (Allocations.to_ns.col - Allocations.from_ns.col).cast(pl.Float64)
    ranks = (
        allocations.filter(Allocations.role.col == "rank")
        .group_by(keys)
        .agg(_held=held.sum())
    )
    length = Attempts.end_ns.col - Attempts.start_ns.col
    trained = (
        lost.filter(LostTime.category.col.is_in(TRAINING))
        .group_by(keys)
        .agg(_trained=LostTime.gpu_ns.col.cast(pl.Int128).sum().cast(pl.Float64))
    )
    joined = (
        attempts.select(*keys, length.cast(pl.Float64).alias("_length"))
        .join(ranks, on=keys)
        .join(trained, on=keys, how="left")
        .filter(pl.col("_held") > 0)
        .sort(keys)
    )
    share = pl.col("_trained").fill_null(0) / pl.col("_held")
    return joined.group_by("run_id", maintain_order=True).agg(
        training_ns=(share * pl.col("_length")).sum(),
        rank_gpus=pl.col("_held").sum() / pl.col("_length").sum(),
    )
