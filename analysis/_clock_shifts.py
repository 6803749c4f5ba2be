"""Times of several clocks on one: what is known of each clock taken out."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._clock_hosts import HOST
from analysis._clock_names import hosts_of_ranks, name_clocks
from analysis.clock_offsets import ClockOffsets
from analysis.gpus import Gpus
from ingest.tables import Collectives

#: Parts in a million. [1]
_PPM: Final = 1e-6

_CLOCK: Final = ("run_id", "attempt", "clock")


@dataclass(frozen=True, slots=True)
class Clocks:
    """What is known of clocks.

    Attributes:
        offsets: Rows of ClockOffsets.
        hosts: Hosts of ranks, as `hosts_of_ranks` tells them.
    """

    offsets: pl.LazyFrame
    hosts: pl.LazyFrame


def clocks_of(frames: Frames) -> Clocks:
    """Return what is known of clocks.

    Args:
        frames: Clock offsets, GPUs and collectives.
    """
    ranks = frames[Collectives].select("run_id", "rank").drop_nulls().unique()
    seen = frames[Gpus].join(ranks, on=["run_id", "rank"], how="semi")
    return Clocks(frames[ClockOffsets], hosts_of_ranks(seen))


def without_offsets(rows: pl.LazyFrame, clocks: Clocks | None) -> pl.LazyFrame:
    """Take the offset and the drift of its clock out of each arrival and end.

    Args:
        rows: What ranks saw of collectives: `arrival_ns`, `left_ns`, `time_basis` and
            what names the clock.
        clocks: What is known of clocks; None: all times are of one clock.

    Returns:
        The rows with `clock`, its `component` (times of two components cannot be
        compared) and `unsure_ns`, what its times may still be off.
    """
    if clocks is None:
        alone = {"clock": pl.lit(""), "component": pl.lit(0, pl.Int32)}
        return rows.with_columns(**alone, unsure_ns=pl.lit(0, pl.Int64))
    named = name_clocks(rows, clocks.hosts, _split(clocks.offsets))
    on_gpu = pl.col("time_basis") == "gpu"
    time = pl.when(on_gpu).then("start_ns").fill_null(0)
    models = _models(clocks.offsets).sort("from_ns")
    told = (
        named.with_columns(_time=time)
        .sort("_time")
        .join_asof(
            models,
            left_on="_time",
            right_on="from_ns",
            by=list(_CLOCK),
            strategy="backward",
            check_sortedness=False,
        )
    )
    corrected = told.with_columns(
        arrival_ns=pl.col("arrival_ns") - _shift("arrival_ns"),
        left_ns=pl.col("left_ns") - _shift("left_ns"),
        component=pl.col("component").fill_null(0),
        unsure_ns=pl.col("uncertainty_ns").fill_null(0),
    )
    return corrected.drop("_time", "from_ns", *_MODEL, "uncertainty_ns")


_MODEL: Final = ("reference_ns", "offset_ns", "drift_ppm", "is_corrected")


def _split(offsets: pl.LazyFrame) -> pl.LazyFrame:
    """Return the hosts whose traces were given clocks of their own."""
    own = ClockOffsets.host.col.is_not_null()
    own &= ClockOffsets.host.col != ClockOffsets.clock.col
    return offsets.filter(own).select(HOST).unique()


def _models(offsets: pl.LazyFrame) -> pl.LazyFrame:
    return offsets.select(*_CLOCK, "from_ns", "component", "uncertainty_ns", *_MODEL)


def _shift(time: str) -> pl.Expr:
    """Return how far the clock of a row is ahead at a time. [ns]"""
    since = pl.col(time) - pl.col("reference_ns")
    drift = pl.col("drift_ppm").fill_null(0.0) * _PPM * since
    shift = (pl.col("offset_ns") + drift).round().cast(pl.Int64)
    on_gpu = pl.col("time_basis") == "gpu"
    return pl.when(on_gpu & pl.col("is_corrected")).then(shift).otherwise(0)
