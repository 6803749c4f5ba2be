"""The tables of a condensed day."""

from typing import Final

import polars as pl

from analysis._analysis import Results
from analysis._energy_windows import DEVICE
from analysis._power_held import MW
from analysis._power_roll_fleet import Fleet, Grids, grid_of_kind
from analysis._power_roll_lots import Rolled
from analysis._rollup import Day
from analysis.fleet_power import FleetPower, FleetReadings
from analysis.power_days import PowerDays, XidChanges
from analysis.power_hours import PowerHours
from ingest._order import in_order
from ingest.tables import Table
from ingest.times import DAY_NS, HOUR_NS, midnight_ns

#: Digits of means and powers that are kept: sensors tell fewer.
_DIGITS: Final = 3


#: A part of what is kept, by table.
Part = dict[type[Table], pl.DataFrame]


def named(devices: pl.DataFrame, rolled: Rolled) -> Part:
    """Return what is kept of devices, by their names.

    Args:
        devices: DEVICE, `level` and `device`.
        rolled: What is kept of them, by `device`.
    """
    names = devices.select(*DEVICE, "level", "device")
    counted = rolled.hours.group_by("device").agg(hours_count=pl.len().cast(pl.Int64))
    rows = {
        PowerHours: rolled.hours.with_columns(
            hour_ns=pl.col("from_ns") // HOUR_NS * HOUR_NS
        ),
        PowerDays: rolled.days.join(counted, on="device", how="left"),
        XidChanges: rolled.xids,
    }
    return {
        table: _typed(frame.join(names, on="device"), table)
        for table, frame in rows.items()
    }


def _typed(frame: pl.DataFrame, table: type[Table]) -> pl.DataFrame:
    """Return the columns of a table; small numbers are kept to a thousandth."""
    told = frame.select(
        (pl.col(name) if name in frame.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in table.create_empty().schema.items()
    )
    return told.with_columns(pl.col(pl.Float64).round(_DIGITS))


def results(day: Day, parts: list[Part], fleet: Fleet, grids: Grids) -> Results:
    """Return the tables of the day.

    Args:
        day: Whose day it is.
        parts: What is kept of devices; emptied.
        fleet: What all drew together.
        grids: Time between two points, by kind of reading.
    """
    told: dict[type[Table], pl.DataFrame] = {}
    for table in (PowerHours, PowerDays, XidChanges):
        # taken out, so that they are not held beside what is made of them
        frames = [part.pop(table) for part in parts]
        told[table] = pl.concat([table.create_empty(), *frames])
        frames.clear()
    owner = pl.lit(day.owner).alias("cluster")
    start = midnight_ns(day.day)
    points = _points(fleet.points, grids).with_columns(owner)
    # at the end of the day no reading is in force, and nothing else is told of it
    told[FleetPower] = points.filter(pl.col("time_ns") < start + DAY_NS)
    told[FleetReadings] = fleet.ages.with_columns(
        owner,
        day_ns=pl.lit(start),
        readings_count="readings",
    )
    return {table: _sorted(told.pop(table), table) for table in tuple(told)}


def _sorted(rows: pl.DataFrame, table: type[Table]) -> pl.DataFrame:
    """Return the columns of a table, in the order of its key."""
    types = table.create_empty().schema
    named = rows.select(pl.col(name).cast(kind) for name, kind in types.items())
    return in_order(named, table.key)


def _points(points: pl.DataFrame, grids: Grids) -> pl.DataFrame:
    """Return what was in force at each point: changes summed up."""
    line = ("level", "run_id", "semantics")
    ordered = points.sort(*line, "time_ns")
    is_counter = pl.col("semantics") == "counter"
    force = [pl.col(name).cum_sum().over(line) for name in ("power_mw", "devices")]
    return ordered.with_columns(
        power_w=pl.when(~is_counter).then(force[0] / MW),
        devices_count=pl.when(~is_counter).then(force[1]),
        low_w=pl.col("low_mw") / MW,
        high_w=pl.col("high_mw") / MW,
        sampled_w=pl.col("sampled_mw") / MW,
        line_w=pl.col("line_mw") / MW,
        energy_j=pl.col("energy_uj") / 1e6,
        grid_ns=grid_of_kind(grids),
    )
