"""What a side of a comparison measured, block by block, so that its noise shows."""

from typing import Final

import polars as pl

from analysis._change_sides import Side
from analysis._ledger_accounts import ACCOUNTS
from analysis._step_rollup_log import longest_steps
from analysis.lost_time import LostTime

#: Steps of a block: the step before tells of the next, blocks hardly of each other.
STEPS_OF_BLOCK: Final = 10

#: What every sample has.
COLUMNS: Final = ("measure", "subject", "value", "weight")


def shares(side: Side) -> pl.DataFrame:
    """Return the share of each account in what was paid for, day by day.

    Returns:
        `measure` (the account), `subject` (empty), `value` (its share of the day) [1]
        and `weight` (GPU time paid for that day) [ns].
    """
    days = (
        side.rows(LostTime)
        .filter(side.of_days(pl.col("day")))
        .group_by("day", measure="category")
        .agg(gpu_ns=pl.col("gpu_ns").cast(pl.Float64).sum())
        .collect()
    )
    whole = days.group_by("day").agg(weight=pl.col("gpu_ns").sort().sum())
    every = whole.join(pl.DataFrame({"measure": ACCOUNTS}), how="cross")
    filled = every.join(days, on=["day", "measure"], how="left")
    value = pl.col("gpu_ns").fill_null(0) / pl.col("weight")
    return (
        filled.filter(pl.col("weight") > 0)
        .sort("day", "measure")
        .select("measure", value=value, weight="weight", subject=pl.lit(""))
        .select(COLUMNS)
    )


def step_times(side: Side, *, by_run: bool) -> pl.DataFrame:
    """Return the median time of a step, block of steps by block.

    Args:
        side: Runs and days.
        by_run: Whether each run is a subject of its own.

    Returns:
        `measure` (step_time), `subject` (the run, or empty), `value` (median time of
        the steps of a block) [ns] and `weight` (1).
    """
    steps = (
        side.of_runs(longest_steps(side.frames))
        .filter(side.within(pl.col("start_ns")))
        .group_by("run_id", "step")
        .agg(pl.col("duration_ns").max())
    )
    block = pl.col("step") // STEPS_OF_BLOCK
    medians = steps.group_by("run_id", block.alias("block")).agg(
        value=pl.col("duration_ns").median()
    )
    return (
        medians.sort("run_id", "block")
        .select(
            "value",
            measure=pl.lit("step_time"),
            subject=pl.col("run_id") if by_run else pl.lit(""),
            weight=pl.lit(1.0),
        )
        .select(COLUMNS)
        .collect(engine="streaming")
    )
