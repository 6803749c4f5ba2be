"""Steps with something repaired, where only the own work of ranks is known.

A step ends when the slowest rank ends: its length is the greatest own work of its
ranks, an order statistic. With ranks repaired it is the greatest of what is left.
"""

from collections.abc import Mapping
from typing import Final

import polars as pl

from analysis._whatif_change import Change
from analysis._whatif_steps import PARTS, RunSteps, compared

_STEP: Final = ("attempt", "step", "block")
_RANK: Final = ("attempt", "rank")

#: No blocks, with the columns of `blocks_with`.
NO_BLOCKS: Final = pl.DataFrame(
    schema={
        "attempt": pl.Int32,
        "block": pl.Int64,
        "name": pl.String,
        "steps": pl.Int64,
        "ranks": pl.Int64,
        "actual_ns": pl.Int128,
        "simulated_ns": pl.Int128,
        "repaired_ns": pl.Int128,
        "saved_gpu_ns": pl.Int128,
        "saved_squared": pl.Float64,
    }
)

#: Sums of steps and of GPU time need it: damaged ones may pass Int64.
_WIDE: Final = pl.Int128


def blocks_with(run: RunSteps, changes: Mapping[str, Change]) -> pl.DataFrame:
    """Return blocks of steps of a run as they were and with each change.

    Args:
        run: The run's steps.
        changes: What is repaired, by name.

    Returns:
        Columns `name`, `attempt`, `block`, `steps`, `ranks` (most seen in a step),
        `actual_ns`, `simulated_ns`, `repaired_ns` and `saved_gpu_ns` (Int128), and
        `saved_squared`, the squares of the last, summed over the block's steps.
    """
    found = [
        _blocks(_steps(rows, change), name)
        for rows in run.portions()
        for name, change in changes.items()
    ]
    return pl.concat([NO_BLOCKS, *found]).sort("name", "attempt", "block")


def _blocks(steps: pl.DataFrame, name: str) -> pl.DataFrame:
    wide = steps.with_columns(
        pl.col("actual_ns", "simulated_ns", "repaired_ns").cast(_WIDE)
    )
    saved = (pl.col("simulated_ns") - pl.col("repaired_ns")) * pl.col("ranks")
    return wide.group_by("attempt", "block").agg(
        pl.lit(name).alias("name"),
        pl.len().cast(pl.Int64).alias("steps"),
        pl.col("ranks").max(),
        pl.col("actual_ns", "simulated_ns", "repaired_ns").sum(),
        saved.sum().alias("saved_gpu_ns"),
        (saved.cast(pl.Float64) ** 2).sort().sum().alias("saved_squared"),
    )


def _steps(rows: pl.DataFrame, change: Change) -> pl.DataFrame:
    """Return each step of a portion as it was and with the change."""
    before = rows.group_by(_STEP).agg(
        ranks=pl.len().cast(pl.Int64),
        actual_ns=pl.col("duration_ns").max(),
        simulated_ns=pl.col("work_ns").max(),
    )
    return before.join(_repaired(rows, change), on=list(_STEP))


def _repaired(rows: pl.DataFrame, change: Change) -> pl.DataFrame:
    lighter = _lightened(rows, change) if change.has_parts else rows
    if change.has_parts and change.needs_peers:
        kept = lighter.with_columns(before="stage_ratio")
        lighter = compared(kept).with_columns(stage_ratio="before").drop("before")
    if change.is_even:
        return _even(lighter)
    own = pl.col("work_ns").cast(pl.Float64)
    for name, seats in (("seat", change.seats), ("staged", change.staged)):
        if seats is not None:
            lighter = _flagged(lighter, seats, name)
            usual = "peers_ns" if name == "seat" else own / pl.col("stage_ratio")
            own = pl.when(name).then(pl.coalesce(usual, own)).otherwise(own)
    return lighter.group_by(_STEP).agg(repaired_ns=own.round().cast(pl.Int64).max())


def _even(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the typical work of each step: the mean of its stages' medians."""
    stages = rows.group_by(*_STEP, "stage").agg(pl.col("work_ns").median())
    typical = pl.col("work_ns").sort().mean().round().cast(pl.Int64)
    return stages.group_by(_STEP).agg(repaired_ns=typical)


def _flagged(rows: pl.DataFrame, seats: pl.DataFrame, flag: str) -> pl.DataFrame:
    """Add whether a row is of one of the seats, within its steps."""
    pairs = rows.select(*_RANK, "step").join(seats, on=list(_RANK))
    during = pl.col("step").is_between(pl.col("first_step"), pl.col("last_step"))
    cells = pairs.filter(during).select(*_RANK, "step").unique()
    marked = cells.with_columns(pl.lit(value=True).alias(flag))
    return rows.join(marked, on=[*_RANK, "step"], how="left").with_columns(
        pl.col(flag).fill_null(value=False)
    )


def _lightened(rows: pl.DataFrame, change: Change) -> pl.DataFrame:
    """Return the rows with less work: parts gone, hidden, rarer or faster."""
    if change.clocks is None:
        rows = rows.with_columns(clock_ratio=pl.lit(1.0))
    else:
        rows = rows.join(change.clocks, on=list(_RANK), how="left")
    stalls = 1.0 if change.stalls is None else change.stalls
    kept = {"checkpoint_ns": pl.lit(stalls)}
    data, communication, checkpoint = (
        pl.col(part).fill_null(0)
        * (pl.lit(0.0) if part in change.gone else kept.get(part, pl.lit(1.0)))
        for part in PARTS
    )
    told = pl.sum_horizontal(pl.col(part).fill_null(0) for part in PARTS)
    own = (pl.col("work_ns") - told).clip(0) * pl.col("clock_ratio").fill_null(1.0)
    rest = own + data + checkpoint
    hidden = pl.max_horizontal(rest, communication)
    work = hidden if change.is_hidden else rest + communication
    lighter = pl.min_horizontal(work, "work_ns") if stalls <= 1 else work
    return rows.with_columns(work_ns=lighter.round().cast(pl.Int64)).drop("clock_ratio")
