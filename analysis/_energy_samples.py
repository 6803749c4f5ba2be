"""Samples of power made ready: one for each time, with what is to be doubted."""

from typing import Final

import polars as pl

from analysis._energy_segments import ceiling
from analysis._energy_sources import one_source
from ingest.tables import PowerSamples
from ingest.times import SECOND_NS

#: A sensor that shows one value for so long is stale: a board's power is never still
#: for half a minute to the hundredth of a watt. [ns]
STALE_NS: Final = 30 * SECOND_NS

#: Nor is it stale before so many samples, since it may be sampled rarely. [1]
STALE_SAMPLES: Final = 10

#: Where no other signal is known, a value with a fraction of a watt that does not move
#: for so long is stale, too: sensors of hundredths of a watt are noisier. [ns]
STILL_NS: Final = 60 * SECOND_NS

#: And for so many samples. [1]
STILL_SAMPLES: Final = 100

#: Signals that move where a GPU works, though its power is said to stand still.
_MOVING: Final = ("utilization_ratio", "sm_clock_mhz", "temperature_c")

#: Columns of which the greatest of several copies is kept.
_GREATEST: Final = ("power_limit_w", "energy_mj", *_MOVING)

#: What is true of a time where it is of one of its copies.
_FLAGS: Final = (
    "is_module",
    "is_assumed_zone",
    "is_file_time",
    "is_resampled",
    "is_whole",
    "is_repeated",
    "is_machine",
    "is_disagreeing",
)

_POWERS: Final = ("power_average_w", "power_instant_w")


def one_per_time(samples: pl.DataFrame) -> pl.DataFrame:
    """Collapse samples of one board and time: MIG and time slicing repeat the board.

    The board itself goes before the module that it is part of. Power is the middle of
    what the copies say, since they may be read some milliseconds apart.

    Args:
        samples: Rows of PowerSamples with `device`.

    Returns:
        One row per device and time, sorted, with `ceiling_w`, `is_module`,
        `is_assumed_zone`, `is_file_time`, `is_resampled` and `is_whole`: whether a row
        has all that was sampled, and not one metric; `is_repeated`: whether several
        said the same; `is_disagreeing`: whether files differ there; and `file`, a
        number for the one that it is of, null where there are several.
    """
    level = PowerSamples.level.col
    rank = pl.when(level == "gpu_board").then(0).otherwise(1)
    one_level = samples.filter(rank == rank.min().over("device"))
    quality = PowerSamples.time_quality.col
    is_repeated = (PowerSamples.series_count.col > 1).fill_null(value=False)
    flagged = one_level.select(
        "device",
        "time_ns",
        *_POWERS,
        *_GREATEST,
        is_module=PowerSamples.level.col == "module",
        is_assumed_zone=quality == "zone_assumed",
        is_file_time=quality == "file_time",
        is_resampled=quality == "resampled",
        is_whole=PowerSamples.series.col.is_null(),
        is_repeated=is_repeated,
        is_machine=~level.is_in(("gpu_board", "module")),
        file=PowerSamples.file_id.col.hash(),
        source=PowerSamples.file_id.col.hash() ^ PowerSamples.host.col.hash(),
    ).sort("device", "time_ns")
    counted = one_source(flagged).drop("source")
    return _collapse(counted).with_columns(ceiling_w=ceiling())


def _collapse(ordered: pl.DataFrame) -> pl.DataFrame:
    """Make one of neighbours of the same device and time, if there are any."""
    is_copy = pl.all_horizontal(
        pl.col(name) == pl.col(name).shift(1) for name in ("device", "time_ns")
    )
    if not ordered.select(is_copy.any()).item():
        return ordered
    told = [pl.col(name).count() > 1 for name in (*_POWERS, "energy_mj")]
    copies = ordered.group_by("device", "time_ns").agg(
        *[(pl.col(name).min() + pl.col(name).max()) / 2 for name in _POWERS],
        pl.col(_GREATEST).max(),
        pl.col([name for name in _FLAGS if name != "is_repeated"]).any(),
        is_repeated=pl.col("is_repeated").any() | pl.any_horizontal(told),
        file=pl.when(pl.col("file").n_unique() == 1).then(pl.col("file").first()),
    )
    return copies.sort("device", "time_ns")


def mark_doubts(samples: pl.DataFrame) -> pl.DataFrame:
    """Add for each column of power what its samples are to be doubted for.

    Args:
        samples: Rows of `one_per_time`.

    Returns:
        The samples with `<column>_stale`, `<column>_blank` (others of the device have a
        value) and `<column>_above` (beyond what the device can draw); `energy_mj_blank`
        and `energy_mj_stale` too.
    """
    above = [
        (pl.col(name) > pl.col("ceiling_w"))
        .fill_null(value=False)
        .alias(f"{name}_above")
        for name in _POWERS
    ]
    blanks = [
        (
            pl.col(name).is_null()
            & pl.col("is_whole")
            & pl.col(name).is_not_null().any().over("device")
        ).alias(f"{name}_blank")
        for name in (*_POWERS, "energy_mj")
    ]
    stale = [_is_stale(samples, name).alias(f"{name}_stale") for name in _POWERS]
    return _with_still_counter(samples.with_columns(*above, *blanks, *stale))


def _with_still_counter(samples: pl.DataFrame) -> pl.DataFrame:
    """Say where the counter of energy stands still: no board draws nothing for long."""
    counted = samples.select("device", "time_ns", "energy_mj").drop_nulls("energy_mj")
    spell = pl.struct("device", "energy_mj").rle_id()
    length = pl.col("time_ns").max() - pl.col("time_ns").min()
    still = counted.filter(length.over(spell) > STILL_NS).select(
        "device", "time_ns", energy_mj_stale=pl.lit(value=True)
    )
    told = samples.join(
        still, on=["device", "time_ns"], how="left", maintain_order="left"
    )
    return told.with_columns(pl.col("energy_mj_stale").fill_null(value=False))


def _is_stale(samples: pl.DataFrame, column: str) -> pl.Series:
    """Return whether a value stands still for long while another signal moves.

    Where no other signal is known, one that is told to a fraction of a watt and stands
    still for longer is stale, too.

    Only spells that are long enough are looked into: there are few.
    """
    changes = pl.any_horizontal(
        pl.col(name).ne_missing(pl.col(name).shift(1)) for name in ("device", column)
    )
    spells = samples.with_columns(_spell=changes.cum_sum()).with_row_index("_row")
    starts = spells.filter(pl.col("_spell").ne_missing(pl.col("_spell").shift(1)))
    samples_of = pl.col("_row").shift(-1, fill_value=samples.height) - pl.col("_row")
    many = starts.filter(pl.col(column).is_not_null() & (samples_of > STALE_SAMPLES))
    inside = spells.join(many, on="_spell", how="semi")
    moves = [pl.col(name).max() > pl.col(name).min() for name in _MOVING]
    found = inside.group_by("_spell").agg(
        length_ns=pl.col("time_ns").max() - pl.col("time_ns").min(),
        moves=pl.any_horizontal(moves).fill_null(value=False),
        is_told=pl.any_horizontal(pl.col(_MOVING).is_not_null().any()),
        is_fraction=(pl.col(column) != pl.col(column).floor()).first(),
        samples=pl.len(),
    )
    is_long = pl.col("length_ns") > STILL_NS
    is_alone = is_long & ~pl.col("is_told") & pl.col("is_fraction")
    is_still = is_alone & (pl.col("samples") > STILL_SAMPLES)
    stale = found.filter((pl.col("length_ns") > STALE_NS) & pl.col("moves") | is_still)
    return spells["_spell"].is_in(stale["_spell"].implode())
