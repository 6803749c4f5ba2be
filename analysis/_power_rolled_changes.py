"""Sensors of runs and changes of their power, where samples were condensed."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._energy_segments import CEILING_W, Bridges
from analysis._power_changes import Holding, Seen
from analysis._power_grid import Changes, expected_changes
from analysis._power_held import MW
from analysis._power_roll_fleet import Grids, grid_of_kind
from analysis._power_rolled import Condensed, placed_hours
from analysis._power_rolled_fleet import fleet_power
from analysis._power_sensor import COLUMN, picked_of, sensors_of

_POINT: Final = ("run_id", "point")

#: Columns of hours that peaks are told by.
_OF_PEAKS: Final = tuple(
    f"{kind}_{name}_w" for kind in COLUMN for name in ("peak", "edge")
)


def condensed_changes(
    frames: Frames, holding: Holding, levels: Sequence[str], bridges: Bridges
) -> Seen | None:
    """Return the changes of runs whose samples were condensed, None where none were.

    Args:
        frames: Hours and days of power, and the fleet's.
        holding: Who held what.
        levels: Levels of one GPU.
        bridges: Which silences of a sensor are bridged.
    """
    condensed = Condensed.of(frames, holding.gpus, levels, _OF_PEAKS)
    if condensed.is_empty:
        return None
    held = holding.held(condensed.devices)
    if held.is_empty():
        return None
    fleet, grids = fleet_power(frames, condensed, held, bridges)
    told = _as_kept(_sensors(condensed, held), grids)
    wanted = held.join(told, on="run_id")
    points = fleet.points.filter(pl.col("level").is_in(levels)).join(
        told, on=["run_id", "semantics"]
    )
    since = pl.col("time_ns") - pl.col("origin_ns")
    is_change = (pl.col("power_mw") != 0) | (pl.col("devices") != 0)
    events = points.filter(is_change).select(
        "run_id",
        "power_mw",
        point=-(-since // pl.col("grid_ns")),
        covered="devices",
        expected=pl.lit(0, pl.Int64),
    )
    columns = [*_POINT, "power_mw", "covered", "expected"]
    every = pl.concat(
        [events.select(columns), *(e.select(columns) for e in expected_changes(wanted))]
    )
    sensors = told.select("run_id", "semantics")
    ages = fleet.ages.join(sensors, on=["run_id", "semantics"])
    return Seen(
        told,
        Changes(
            every.group_by(_POINT).agg(pl.all().sum()).sort(_POINT),
            _peaks(condensed, held, told),
            ages.select("run_id", "age_ns", "points", "readings"),
        ),
    )


def _sensors(condensed: Condensed, held: pl.DataFrame) -> pl.DataFrame:
    """Return what the sensors of runs are like, of days their middle."""
    told = []
    for semantics in COLUMN:
        span = pl.col(f"{semantics}_last_ns") - pl.col(f"{semantics}_first_ns")
        known = condensed.days.drop_nulls(f"{semantics}_first_ns")
        told.append(
            known.group_by("device").agg(
                samples=pl.col(f"{semantics}_reads_count").sum(),
                interval_ns=pl.col(f"{semantics}_interval_ns").median(),
                # a reading that never changed said nothing new in all that time
                refresh_ns=pl.coalesce(
                    f"{semantics}_refresh_ns", span.cast(pl.Float64)
                ).median(),
                semantics=pl.lit(semantics).first(),
            )
        )
    return sensors_of(picked_of(held), pl.concat(told))


def _as_kept(told: pl.DataFrame, grids: Grids) -> pl.DataFrame:
    """Space the grid of a run as its sensors ask, but no closer than days were kept."""
    kept = grid_of_kind(grids)
    return told.with_columns(
        grid_ns=pl.max_horizontal("grid_ns", kept),
        aged_ns=pl.coalesce(kept, "grid_ns"),
    )


def _peaks(
    condensed: Condensed, held: pl.DataFrame, told: pl.DataFrame
) -> pl.DataFrame:
    """Return the peaks of the devices of each run, added up."""
    parts = []
    semantics = told.select("run_id", "semantics")
    for lot in condensed.lots(held):
        mine = held.join(lot.devices, on="device", how="semi")
        placed = placed_hours(
            lot.hours, mine.select("device", "run_id", "from_ns", "to_ns")
        ).join(semantics, on="run_id")
        peak, edge = (
            pl.when(pl.col("semantics") == "instant")
            .then(f"instant_{name}_w")
            .otherwise(f"average_{name}_w")
            for name in ("peak", "edge")
        )
        believed = lot.days.group_by("device").agg(
            ceiling_w=pl.col("ceiling_w").max().fill_null(CEILING_W)
        )
        parts.append(
            placed.group_by("run_id", "device")
            .agg(power_w=pl.coalesce(peak.max(), edge.max()))
            .drop_nulls()
            .join(believed, on="device")
        )
    milli = [
        (pl.col(name) * MW).round().cast(pl.Int64).sum() / MW
        for name in ("power_w", "ceiling_w")
    ]
    return (
        pl.concat(parts)
        .group_by("run_id")
        .agg(
            peaks_w=milli[0],
            ceiling_w=milli[1],
            devices_count=pl.col("device").n_unique().cast(pl.Int64),
        )
    )
