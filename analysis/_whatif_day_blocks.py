"""Stretches of the steps of a run that is kept by day, as they were and repaired."""

from typing import Final

import polars as pl

from analysis._straggler_day_answers import STRETCH_STEPS

_BLOCK: Final = ["attempt", "block"]

#: Sums of steps and of GPU time need it.
_WIDE: Final = pl.Int128


def even_blocks(steps: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return stretches with every rank at what is typical of the step.

    Args:
        steps: Joined steps of the run.
        name: What the repair is called.

    Returns:
        Columns as those of `blocks_with`.
    """
    saved = pl.col("slowest_work_ns") - pl.col("even_work_ns")
    return _blocks(steps.with_columns(saved_ns=saved), name)


def joint_blocks(steps: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return stretches with all that was found slow at its peers' median.

    Args:
        steps: Joined steps of the run.
        name: What the repair is called.
    """
    saved = pl.col("lost_gpu_ns").cast(_WIDE) // pl.col("ranks_seen")
    return _blocks(steps.with_columns(saved_ns=saved), name)


def thing_blocks(steps: pl.DataFrame, savings: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return stretches with one thing at its peers' median.

    Args:
        steps: Joined steps of the run.
        savings: Rows of StragglerDaysSavings of the thing.
        name: What the repair is called.
    """
    whole = joint_blocks(steps.with_columns(lost_gpu_ns=pl.lit(0)), name)
    ordered = savings.sort("attempt", "stretch", "day")
    own = ordered.group_by("attempt", block="stretch").agg(
        own_ns=pl.col("saved_ns").cast(_WIDE).sum(),
        own_gpu_ns=pl.col("saved_gpu_ns").cast(_WIDE).sum(),
        own_squares=pl.col("saved_squares").sum(),
    )
    told = whole.join(own, on=_BLOCK, how="left", maintain_order="left")
    return told.with_columns(
        repaired_ns=pl.col("simulated_ns") - pl.col("own_ns").fill_null(0),
        saved_gpu_ns=pl.coalesce("own_gpu_ns", "saved_gpu_ns"),
        saved_squared=pl.coalesce("own_squares", "saved_squared"),
    ).select(whole.columns)


def _blocks(steps: pl.DataFrame, name: str) -> pl.DataFrame:
    saved = pl.col("saved_ns").cast(_WIDE)
    gpu = saved * pl.col("ranks_seen")
    told = steps.sort("attempt", "step").with_columns(
        block=pl.col("step") // STRETCH_STEPS
    )
    blocks = told.group_by(_BLOCK, maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("steps"),
        ranks=pl.col("ranks_seen").max(),
        actual_ns=pl.col("longest_ns").cast(_WIDE).sum(),
        simulated_ns=pl.col("slowest_work_ns").cast(_WIDE).sum(),
        repaired_ns=(pl.col("slowest_work_ns").cast(_WIDE) - saved).sum(),
        saved_gpu_ns=gpu.sum(),
        saved_squared=(gpu.cast(pl.Float64) ** 2).sum(),
    )
    return blocks.with_columns(name=pl.lit(name))
