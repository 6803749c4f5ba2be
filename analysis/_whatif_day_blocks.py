"""Steps of a run that is kept by day, as they were and repaired, in blocks."""

from typing import Final

import polars as pl

from analysis._straggler_day_answers import STRETCH_STEPS
from analysis._whatif_intervals import OF_SEVERAL

_BLOCK: Final = ["attempt", "block"]

#: Sums of steps and of GPU time need it.
_WIDE: Final = pl.Int128


def even_blocks(steps: pl.DataFrame, name: str, block_steps: int) -> pl.DataFrame:
    """Return blocks with every rank at what is typical of the step.

    Args:
        steps: Joined steps of the run.
        name: What the repair is called.
        block_steps: Steps of a block. [1]

    Returns:
        Columns as those of `blocks_with`, and those of OF_SEVERAL.
    """
    saved = pl.col("slowest_work_ns") - pl.col("even_work_ns")
    return _blocks(steps.with_columns(saved_ns=saved), name, _block(block_steps))


def joint_blocks(steps: pl.DataFrame, name: str, block_steps: int) -> pl.DataFrame:
    """Return blocks with all that was found slow at its peers' median.

    Args:
        steps: Joined steps of the run.
        name: What the repair is called.
        block_steps: Steps of a block. [1]
    """
    saved = pl.col("lost_gpu_ns").cast(_WIDE) // pl.col("ranks_seen")
    return _blocks(steps.with_columns(saved_ns=saved), name, _block(block_steps))


def thing_blocks(steps: pl.DataFrame, savings: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return stretches with one thing at its peers' median, of several blocks each.

    Args:
        steps: Joined steps of the run.
        savings: Rows of StragglerDaysSavings of the thing.
        name: What the repair is called.
    """
    stretch = pl.col("step") // STRETCH_STEPS
    whole = _blocks(steps.with_columns(saved_ns=pl.lit(0)), name, stretch)
    ordered = _told(savings).sort("attempt", "stretch", "day", "scope_id", "edge")
    own = ordered.group_by("attempt", block="stretch").agg(
        own_ns=pl.col("saved_ns").cast(_WIDE).sum(),
        own_gpu_ns=pl.col("saved_gpu_ns").cast(_WIDE).sum(),
        own_squares=pl.col("saved_squares").sum(),
        **{f"own_{column}": pl.col(column).sum() for column in OF_SEVERAL},
    )
    told = whole.join(own, on=_BLOCK, how="left", maintain_order="left")
    return told.with_columns(
        repaired_ns=pl.col("simulated_ns") - pl.col("own_ns").fill_null(0),
        saved_gpu_ns=pl.coalesce("own_gpu_ns", "saved_gpu_ns"),
        saved_squared=pl.coalesce("own_squares", "saved_squared"),
        **{column: pl.col(f"own_{column}").fill_null(0) for column in OF_SEVERAL},
    ).select(whole.columns)


def _told(savings: pl.DataFrame) -> pl.DataFrame:
    """Take stretches of days that kept no blocks as one block each."""
    saved = pl.col("saved_gpu_ns").cast(pl.Float64)
    return savings.with_columns(
        pl.col("blocks_count").fill_null((saved != 0).cast(pl.Int64)),
        pl.col("blocks_steps").fill_null(pl.col("steps_seen")),
        pl.col("blocks_squares").fill_null(saved * saved),
    )


def _block(block_steps: int) -> pl.Expr:
    """Number blocks as those of a run whose steps are read again: of steps it has."""
    return (pl.col("step").rank("dense").cast(pl.Int64) - 1) // block_steps


def _blocks(steps: pl.DataFrame, name: str, block: pl.Expr) -> pl.DataFrame:
    saved = pl.col("saved_ns").cast(_WIDE)
    gpu = saved * pl.col("ranks_seen")
    told = steps.sort("attempt", "step").with_columns(block=block)
    blocks = told.group_by(_BLOCK, maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("steps"),
        ranks=pl.col("ranks_seen").max(),
        actual_ns=pl.col("longest_ns").cast(_WIDE).sum(),
        simulated_ns=pl.col("slowest_work_ns").cast(_WIDE).sum(),
        repaired_ns=(pl.col("slowest_work_ns").cast(_WIDE) - saved).sum(),
        saved_gpu_ns=gpu.sum(),
        saved_squared=(gpu.cast(pl.Float64) ** 2).sum(),
    )
    return blocks.with_columns(
        name=pl.lit(name),
        blocks_count=pl.lit(1, pl.Int64),
        blocks_steps="steps",
        blocks_squares=pl.col("saved_gpu_ns").cast(pl.Float64) ** 2,
    )
