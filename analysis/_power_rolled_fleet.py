"""Power of the fleet over all days, with what lies between them."""

from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._energy_bridges import Bridges
from analysis._energy_choice import METHODS
from analysis._power_held import MW
from analysis._power_roll_columns import SHORT
from analysis._power_roll_fleet import AGES, READING, SCHEMA, Fleet, Grids, fleet_of
from analysis._power_rolled_nights import nights
from analysis.fleet_power import FleetPower, FleetReadings
from ingest.times import DAY_NS

_LINE: Final = ("level", "run_id", "semantics")

_SCALED: Final = {
    "power_mw": pl.col("power_w").fill_null(0.0) * MW,
    "sampled_mw": pl.col("sampled_w") * MW,
    "low_mw": pl.col("low_w") * MW,
    "high_mw": pl.col("high_w") * MW,
    "line_mw": pl.col("line_w") * MW,
    "energy_uj": pl.col("energy_j") * 1e6,
}


def grids_kept(frames: Frames) -> Grids:
    """Return how far apart the points of days are, by kind of reading.

    Args:
        frames: The tables.
    """
    told = frames[FleetPower].filter(pl.col("run_id").is_not_null())
    spaced = told.group_by("semantics").agg(pl.col("grid_ns").max())
    return dict(spaced.collect(engine="streaming").iter_rows())


def days_together(frames: Frames) -> Fleet:
    """Return the power of the devices of runs together on days, as changes.

    Args:
        frames: The tables.
    """
    told = frames[FleetPower].filter(pl.col("run_id").is_not_null()).collect()
    aged = frames[FleetReadings].collect().rename({"readings_count": "readings"})
    return Fleet(_changes(told), aged.select(list(AGES)))


def _changes(told: pl.DataFrame) -> pl.DataFrame:
    """Return the changes of what was in force; at the end of a day nothing is."""
    of_day = [*_LINE, pl.col("cluster"), pl.col("time_ns") // DAY_NS]
    whole = told.with_columns(
        devices=pl.col("devices_count").fill_null(0),
        **{name: value.round().cast(pl.Int64) for name, value in _SCALED.items()},
    ).sort(*_LINE, "time_ns")
    ends = whole.group_by(of_day).agg(
        -pl.col("power_mw", "devices").last(), end=pl.col("time_ns").first()
    )
    closing = ends.select(
        *_LINE, "power_mw", "devices", time_ns=(pl.col("end") // DAY_NS + 1) * DAY_NS
    )
    changed = whole.with_columns(
        (pl.col(name) - pl.col(name).shift(1, fill_value=0).over(of_day)).alias(name)
        for name in ("power_mw", "devices")
    )
    both = pl.concat([changed.select(list(SCHEMA)), closing], how="diagonal")
    others = (*_LINE, "time_ns", "low_mw", "high_mw")
    sums = [name for name in SCHEMA if name not in others]
    return both.with_columns(pl.col(sums).fill_null(0)).select(list(SCHEMA))


def nights_together(
    days: pl.DataFrame, held: pl.DataFrame, bridges: Bridges, grids: Grids
) -> Fleet:
    """Return the power of some devices together between days, as changes.

    Args:
        days: Rows of PowerDays with `device`.
        held: `run_id`, `device`, `from_ns` and `to_ns`.
        bridges: Which silences of sampled power are bridged.
        grids: How far apart points are.
    """
    levels = days.select("device", "level").unique("device", keep="first")
    spans = held.join(levels, on="device").select(
        "device", "level", "run_id", "from_ns", "to_ns"
    )
    readings = {}
    for method, column in METHODS.items():
        between = nights(days, method, bridges)
        power = (pl.col("watts") * MW).round().cast(pl.Int64)
        readings[SHORT[column]] = between.with_columns(
            power_mw=power,
            low_mw=power,
            high_mw=power,
            devices=pl.lit(1, pl.Int64),
        ).select(READING)
    return fleet_of(readings, spans, grids)
