"""Energy of all devices of a run added up, by attempt and level of measurement."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._energy_parts import sampled_parts
from analysis._energy_quality import MEANINGS
from analysis._energy_run import NODE, RunEnergy
from analysis._power_rolled_runs import condensed_parts

_ATTEMPT: Final = ("run_id", "attempt")

_KEY: Final = (*_ATTEMPT, "level")


def measure_runs(frames: Frames, run: RunEnergy, levels: Sequence[str]) -> pl.DataFrame:
    """Add up the energy of the devices of runs and attempts.

    Args:
        frames: Samples of power, or the hours that they were condensed to.
        run: What it is held against.
        levels: Levels to measure; those of GPUs are looked at together.

    Returns:
        A row for each run, attempt (null: all of them) and level with `energy_j`,
        `timed_j` (in measured time), `measured_ns`, `devices_count`, `productive_j`,
        `productive_measured_ns`, `peak_w`, `quality` and `levels`.
    """
    of_gpus = [level for level in levels if level != NODE]
    parts = [
        *sampled_parts(frames, run, of_gpus),
        *sampled_parts(frames, run, [NODE]),
        *condensed_parts(frames, run, of_gpus),
        *condensed_parts(frames, run, [NODE]),
    ]
    if not parts:
        return pl.DataFrame(schema=_EMPTY)
    every = pl.concat(parts)
    whole = every.with_columns(attempt=pl.lit(None, pl.Int32))
    rows = pl.concat([every, whole])
    return _summed(rows)


_EMPTY: Final = {
    "run_id": pl.String(),
    "attempt": pl.Int32(),
    "level": pl.String(),
    "energy_j": pl.Float64(),
    "timed_j": pl.Float64(),
    "measured_ns": pl.Int64(),
    "devices_count": pl.Int64(),
    "productive_j": pl.Float64(),
    "productive_measured_ns": pl.Int64(),
    "peak_w": pl.Float64(),
    "quality": pl.String(),
    "levels": pl.Int64(),
}


def _summed(rows: pl.DataFrame) -> pl.DataFrame:
    """Add devices up in their order: sums of floats depend on it."""
    known = pl.col("energy_j").is_not_null()
    ordered = rows.sort(*_KEY, "device", "window")
    sums = ordered.group_by(_KEY, maintain_order=True).agg(
        energy_j=pl.when(known.any()).then(pl.col("energy_j").sum()),
        timed_j=pl.col("timed_j").sum(),
        measured_ns=pl.col("measured_ns").sum(),
        devices_count=pl.col("device").filter(known).n_unique().cast(pl.Int64),
        productive_j=pl.when(pl.col("productive_j").is_not_null().any()).then(
            pl.col("productive_j").sum()
        ),
        productive_measured_ns=pl.col("productive_measured_ns").sum(),
        peak_w=pl.col("peak_w").max(),
        quality=pl.col("quality").str.split(",").explode().unique(),
    )
    of_gpus = pl.when(pl.col("level") != NODE).then("level")
    return sums.with_columns(
        quality=_in_order(),
        levels=of_gpus.n_unique().over(*_ATTEMPT).cast(pl.Int64)
        - (of_gpus.null_count().over(*_ATTEMPT) > 0).cast(pl.Int64),
    )


def _in_order() -> pl.Expr:
    """Return the reasons of all devices, each once, in the order they are told in."""
    told = [
        pl.when(pl.col("quality").list.contains(name)).then(pl.lit(name))
        for name in MEANINGS
    ]
    joined = pl.concat_str(told, separator=",", ignore_nulls=True)
    return pl.when(joined != "").then(joined)
