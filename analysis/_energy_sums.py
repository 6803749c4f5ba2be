"""Energy of all devices of a run added up, by attempt and level of measurement."""

from collections.abc import Sequence
from itertools import chain
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
    lots = chain(
        sampled_parts(frames, run, of_gpus),
        sampled_parts(frames, run, [NODE]),
        condensed_parts(frames, run, of_gpus),
        condensed_parts(frames, run, [NODE]),
    )
    # rows of devices are dropped lot by lot: a long history has millions of them
    sums = [_of_lot(lot) for lot in lots]
    return _together(pl.concat(sums)) if sums else pl.DataFrame(schema=_EMPTY)


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


#: Sums of what is null where nothing was measured.
_KNOWN: Final = tuple(
    pl.when(pl.col(name).is_not_null().any()).then(pl.col(name).sum()).alias(name)
    for name in ("energy_j", "productive_j")
)

_ADDED: Final = ("timed_j", "measured_ns", "productive_measured_ns")


def _of_lot(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the devices of a lot up in their order: sums of floats depend on it."""
    known = pl.col("energy_j").is_not_null()
    whole = rows.with_columns(attempt=pl.lit(None, pl.Int32))
    ordered = pl.concat([rows, whole]).sort(*_KEY, "device", "window")
    return ordered.group_by(_KEY, maintain_order=True).agg(
        *_KNOWN,
        pl.col(_ADDED).sum(),
        pl.col("peak_w").max(),
        devices_count=pl.col("device").filter(known).n_unique().cast(pl.Int64),
        quality=pl.col("quality").str.split(",").explode().unique(),
    )


def _together(lots: pl.DataFrame) -> pl.DataFrame:
    """Add lots up in their order; a device is in one of them."""
    ordered = lots.sort(*_KEY, maintain_order=True)
    sums = ordered.group_by(_KEY, maintain_order=True).agg(
        *_KNOWN,
        pl.col(*_ADDED, "devices_count").sum(),
        pl.col("peak_w").max(),
        pl.col("quality").explode().unique(),
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
