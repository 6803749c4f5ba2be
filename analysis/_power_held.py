"""Which reading of power is in force when: from its time until the next."""

from typing import Final

import polars as pl

from analysis._energy_bridges import Bridges
from analysis._energy_samples import one_per_time
from analysis._energy_segments import power_segments
from analysis._power_sensor import COLUMN

#: Whole milliwatts: sums of them are exact, in whatever order.
MW: Final = 1_000


def in_force(
    read: pl.DataFrame, pieces: pl.DataFrame, bridges: Bridges
) -> pl.DataFrame:
    """Return the readings of the devices of a run, and when each is in force.

    A reading holds until the next of its device. Before a silence that is too long to
    be bridged it holds for no time at all, nor does the last one: as in energy, nothing
    is told of such time.

    Args:
        read: Rows of PowerSamples with `device`.
        pieces: `run_id`, `device`, `from_ns`, `to_ns` and the columns of `sensors`.
        bridges: Which silences are bridged.

    Returns:
        The columns of the pieces, with `power_mw` (zero where it holds for no time),
        `ceiling_mw` (the most that the device is believed), `taken_ns`, and `time_ns`
        and `until_ns` inside the piece. One that was taken before the piece and still
        holds is one of its rows.
    """
    samples = one_per_time(read)
    parts = []
    for semantics, column in COLUMN.items():
        mine = pieces.filter(pl.col("semantics") == semantics)
        if mine.is_empty():
            continue
        readings = power_segments(samples, column, bridges).select(
            "device",
            taken_ns="time_ns",
            power_mw=(pl.col("watts") * MW).round().cast(pl.Int64),
            until_ns=pl.col("time_ns")
            + pl.when("is_measured").then("length_ns").otherwise(0),
        )
        parts.append(readings_in(readings, mine))
    most = (pl.col("ceiling_w").max() * MW).round().cast(pl.Int64)
    ceilings = samples.group_by("device").agg(ceiling_mw=most)
    return pl.concat(parts).join(ceilings, on="device")


def readings_in(readings: pl.DataFrame, pieces: pl.DataFrame) -> pl.DataFrame:
    """Return the readings that are in force in pieces of time, cut at their edges.

    Args:
        readings: `device`, `taken_ns`, `power_mw` and `until_ns`.
        pieces: `device`, `from_ns`, `to_ns` and whatever is to be kept of them.
    """
    return pl.concat([_taken_in(readings, pieces), _taken_before(readings, pieces)])


def _taken_in(readings: pl.DataFrame, pieces: pl.DataFrame) -> pl.DataFrame:
    joined = readings.sort("taken_ns").join_asof(
        pieces.sort("from_ns"),
        left_on="taken_ns",
        right_on="from_ns",
        by="device",
        strategy="backward",
        check_sortedness=False,
    )
    inside = joined.filter(pl.col("taken_ns") < pl.col("to_ns"))
    return _cut(inside, pieces)


def _taken_before(readings: pl.DataFrame, pieces: pl.DataFrame) -> pl.DataFrame:
    joined = pieces.sort("from_ns").join_asof(
        readings.sort("taken_ns"),
        left_on="from_ns",
        right_on="taken_ns",
        by="device",
        strategy="backward",
        allow_exact_matches=False,
        check_sortedness=False,
    )
    return _cut(joined.filter(pl.col("until_ns") > pl.col("from_ns")), pieces)


def _cut(rows: pl.DataFrame, pieces: pl.DataFrame) -> pl.DataFrame:
    return rows.select(
        *pieces.columns,
        "power_mw",
        "taken_ns",
        time_ns=pl.max_horizontal("taken_ns", "from_ns"),
        until_ns=pl.min_horizontal("until_ns", "to_ns"),
    )
