"""Power between samples: what each source says of the time until the next sample."""

from typing import Final

import polars as pl

from analysis._energy_bridges import Bridges
from ingest.tables import PowerSamples
from ingest.times import SECOND_NS

#: A sample beyond the power limit by half is no power that a GPU can draw: boards may
#: pass their limit for milliseconds, by some tens of percent.
ABOVE_LIMIT: Final = 1.5

#: Highest power where no limit is told: half above the largest module on sale, a GB200
#: superchip of 2.7 kW. [W]
CEILING_W: Final = 4_000.0

#: Least that is a limit: boards idle with more, and a driver that knows no limit says
#: zero. [W]
LEAST_LIMIT_W: Final = 10.0

#: How far behind the counter of energy may be: it is refreshed ten times a second, so
#: between two reads it may tell of two refreshes more than the time between. [ns]
COUNTER_LAG_NS: Final = 200_000_000

#: Columns of segments. Power starts at `watts` and changes by `slope` each ns; both are
#: zero in time that was not measured. `spacing_ns` is the time until the next sample of
#: the same file.
SEGMENT: Final = (
    "device",
    "time_ns",
    "length_ns",
    "spacing_ns",
    "watts",
    "slope",
    "energy_j",
    "credit_j",
    "is_measured",
    "is_gap",
    "is_reset",
    "is_jump",
)


def ceiling() -> pl.Expr:
    """Return the highest power that a sample of a device is believed. [W]

    Of a node or a rack (`is_machine`) any is.
    """
    told = PowerSamples.power_limit_w.col
    limit = pl.when(told >= LEAST_LIMIT_W).then(told).max().over("device")
    of_gpu = (limit * ABOVE_LIMIT).fill_null(CEILING_W)
    return pl.when("is_machine").then(pl.lit(float("inf"))).otherwise(of_gpu)


def power_segments(
    samples: pl.DataFrame, column: str, bridges: Bridges
) -> pl.DataFrame:
    """Join samples of power by straight lines, a trapezoid between each two.

    Args:
        samples: Rows of `one_per_time`.
        column: Column of the power. [W]
        bridges: Which silences are bridged.

    Returns:
        The columns of SEGMENT, one row for each sample.
    """
    power = pl.col(column)
    ordered = samples.sort("device", "time_ns")
    believed = _spaced(ordered.filter(power <= pl.col("ceiling_w")))
    length, following = _until_next("time_ns"), _next(power)
    allowed = bridges.allowed(pl.col("spacing_ns"))
    is_near = (length <= allowed).fill_null(value=False)
    is_measured = is_near & ~_is_apart()
    seconds = length / SECOND_NS
    return believed.select(
        "device",
        "time_ns",
        "spacing_ns",
        length_ns=length,
        watts=pl.when(is_measured).then(power).otherwise(0.0),
        slope=pl.when(is_measured).then((following - power) / length).otherwise(0.0),
        energy_j=pl.when(is_measured).then((power + following) / 2 * seconds),
        credit_j=pl.lit(0.0),
        is_measured=is_measured,
        is_gap=~is_measured & length.is_not_null(),
        is_reset=pl.lit(value=False),
        is_jump=pl.lit(value=False),
    )


def counter_segments(samples: pl.DataFrame) -> pl.DataFrame:
    """Spread what the counter of energy rose by over the time between its reads.

    A counter that fell was reset: what it shows since is credited at its first read,
    and the time before that read counts as not measured. A rise or a fall that the
    power limit cannot explain is a jump: nothing is credited. However long the time
    between two reads is, it is no gap: the counter saw all of it. Time in which it
    stands still for long is not measured.

    Args:
        samples: Rows of `mark_doubts`.

    Returns:
        The columns of SEGMENT, one row for each read.
    """
    counted = samples.drop_nulls("energy_mj").sort("device", "time_ns")
    reads = _spaced(counted.filter(~_is_spike()))
    length, shown = _until_next("time_ns"), _next(pl.col("energy_mj"))
    rise = shown - pl.col("energy_mj")
    is_apart = _is_apart() & length.is_not_null()
    is_still = (pl.col("energy_mj_stale") & (rise == 0)).fill_null(value=False)
    is_measured = _is_plausible(rise, length) & ~is_apart & ~is_still
    is_reset = ((rise < 0) & _is_plausible(shown, length) & ~is_apart).fill_null(
        value=False
    )
    joules = rise / 1_000
    return reads.select(
        "device",
        "time_ns",
        "spacing_ns",
        length_ns=length,
        watts=pl.when(is_measured).then(joules * SECOND_NS / length).otherwise(0.0),
        slope=pl.lit(0.0),
        energy_j=pl.when(is_measured).then(joules),
        credit_j=pl.when(is_reset).then(shown / 1_000).otherwise(0.0),
        is_measured=is_measured,
        is_gap=is_apart,
        is_reset=is_reset,
        is_jump=~(is_measured | is_reset | is_apart | is_still) & length.is_not_null(),
    )


def _is_apart() -> pl.Expr:
    """Return whether two samples are of two files, and one has the time of its own.

    When a file was written says too little of when its sample was taken for what is
    between it and another file.
    """
    is_loose, file = pl.col("is_file_time"), pl.col("file")
    is_either = is_loose | _next(is_loose).fill_null(value=False)
    return is_either & (file != _next(file)).fill_null(value=True)


def _is_spike() -> pl.Expr:
    """Return whether a read stands out while those around it agree."""
    energy, time = pl.col("energy_mj"), pl.col("time_ns")
    before, after = _before(energy), _next(energy)
    across = _next(time) - _before(time)
    stands_out = ~_is_plausible(energy - before, time - _before(time))
    return stands_out & _is_plausible(after - before, across)


def _is_plausible(rise: pl.Expr, length: pl.Expr) -> pl.Expr:
    """Return whether a counter can have risen so far. [mJ, ns]"""
    most = pl.col("ceiling_w") * (length + COUNTER_LAG_NS) * 1_000 / SECOND_NS
    return ((rise >= 0) & (rise <= most)).fill_null(value=False)


def _spaced(ordered: pl.DataFrame) -> pl.DataFrame:
    """Add the time until the next sample of the same file, or of the device's only.

    Args:
        ordered: Samples, sorted by device and time.
    """
    length, file = _until_next("time_ns"), pl.col("file")
    is_other = length.is_not_null() & file.ne_missing(file.shift(-1))
    if not ordered.select(is_other.any()).item():
        return ordered.with_columns(spacing_ns=length)
    time = pl.col("time_ns")
    of_file = (time.shift(-1) - time).over("device", "file")
    # where each file has but one sample of a device, they tell its interval together
    is_known = of_file.is_not_null().any().over("device")
    return ordered.with_columns(
        spacing_ns=pl.when(is_known).then(of_file).otherwise(length)
    )


def _until_next(column: str) -> pl.Expr:
    return _next(pl.col(column)) - pl.col(column)


def _next(value: pl.Expr) -> pl.Expr:
    same = pl.col("device") == pl.col("device").shift(-1)
    return pl.when(same).then(value.shift(-1))


def _before(value: pl.Expr) -> pl.Expr:
    same = pl.col("device") == pl.col("device").shift(1)
    return pl.when(same).then(value.shift(1))
