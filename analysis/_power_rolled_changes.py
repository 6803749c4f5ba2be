"""Sensors of runs and changes of their power, where samples were condensed."""

from collections.abc import Sequence
from typing import Final, NamedTuple, Self

import polars as pl

from analysis._analysis import Frames
from analysis._energy_bridges import Bridges
from analysis._energy_holdings import Holdings
from analysis._energy_segments import CEILING_W
from analysis._power_changes import Seen
from analysis._power_grid import Changes, expected_changes
from analysis._power_held import MW
from analysis._power_roll_fleet import NOTHING, Fleet, Grids, grid_of_kind
from analysis._power_rolled import Condensed, Lot, placed_hours
from analysis._power_rolled_fleet import days_together, grids_kept, nights_together
from analysis._power_sensor import COLUMN, picked_of, sensors_of

_POINT: Final = ("run_id", "point")

#: Columns of hours that peaks are told by.
_OF_PEAKS: Final = tuple(
    f"{kind}_{name}_w" for kind in COLUMN for name in ("peak", "edge")
)


def condensed_changes(
    frames: Frames, holdings: Holdings, levels: Sequence[str], bridges: Bridges
) -> Seen | None:
    """Return the changes of runs whose samples were condensed, None where none were.

    Args:
        frames: Hours and days of power, and the fleet's.
        holdings: Who held what.
        levels: Levels of one GPU.
        bridges: Which silences of a sensor are bridged.
    """
    condensed = Condensed.of(frames, holdings.gpus, levels, _OF_PEAKS)
    if condensed.is_empty:
        return None
    grids = grids_kept(frames)
    found = _Found.of(condensed, holdings, bridges, grids)
    if found is None:
        return None
    fleet = days_together(frames).plus(found.nights)
    told = _as_kept(_sensors(condensed, found.holds), grids)
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
    every = pl.concat([events.select(columns), *_expected(found.edges, told, columns)])
    sensors = told.select("run_id", "semantics")
    ages = fleet.ages.join(sensors, on=["run_id", "semantics"])
    return Seen(
        told,
        Changes(
            every.group_by(_POINT).agg(pl.all().sum()).sort(_POINT),
            _peaks(found.peaks, told),
            ages.select("run_id", "age_ns", "points", "readings"),
        ),
    )


class _Found(NamedTuple):
    """What devices tell of the runs that held them.

    Attributes:
        holds: `run_id`, `device`, and `from_ns` and `to_ns` of all its holds.
        edges: `run_id`, `from_ns`, `to_ns` and `holds`, how many of those there are.
        nights: Power between days.
        peaks: Rows of `_peaks_of`.
    """

    holds: pl.DataFrame
    edges: pl.DataFrame
    nights: Fleet
    peaks: pl.DataFrame

    @classmethod
    def of(
        cls, condensed: Condensed, holdings: Holdings, bridges: Bridges, grids: Grids
    ) -> Self | None:
        """Look at devices, some at a time; None where no run held any."""
        fleet = holdings.fleet(condensed.devices)
        spans, edges, peaks, nights = [], [], [], NOTHING
        for some in holdings.lots(condensed.devices):
            held = holdings.of_gpus(fleet, some)
            alike = held.group_by("run_id", "device")
            spans.append(alike.agg(pl.col("from_ns").min(), pl.col("to_ns").max()))
            edges.append(
                held.group_by("run_id", "from_ns", "to_ns").agg(holds=pl.len())
            )
            for lot in condensed.lots(some, held):
                mine = held.join(lot.devices, on="device", how="semi")
                peaks.append(_peaks_of(lot, mine))
                nights = nights.plus(nights_together(lot.days, mine, bridges, grids))
        if not peaks:
            return None
        whole = [pl.concat(parts) for parts in (spans, edges, peaks)]
        return cls(whole[0], whole[1], nights, whole[2])


def _expected(
    edges: pl.DataFrame, told: pl.DataFrame, columns: Sequence[str]
) -> list[pl.DataFrame]:
    """Return at which points runs begin and end to hold devices."""
    alike = edges.group_by("run_id", "from_ns", "to_ns").agg(pl.col("holds").sum())
    held = alike.join(told, on="run_id")
    many = pl.col("expected") * held["holds"].cast(pl.Int64)
    return [
        one.with_columns(expected=many).select(columns)
        for one in expected_changes(held)
    ]


def _sensors(condensed: Condensed, held: pl.DataFrame) -> pl.DataFrame:
    """Return what the sensors of runs are like, of days their middle."""
    picked = picked_of(held)
    mine = condensed.devices.join(picked, on="device", how="semi")
    days, told = condensed.days_of(mine), []
    for semantics in COLUMN:
        span = pl.col(f"{semantics}_last_ns") - pl.col(f"{semantics}_first_ns")
        known = days.drop_nulls(f"{semantics}_first_ns")
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
    return sensors_of(picked, pl.concat(told))


def _as_kept(told: pl.DataFrame, grids: Grids) -> pl.DataFrame:
    """Space the grid of a run as its sensors ask, but no closer than days were kept."""
    kept = grid_of_kind(grids)
    return told.with_columns(
        grid_ns=pl.max_horizontal("grid_ns", kept),
        aged_ns=pl.coalesce(kept, "grid_ns"),
    )


def _peaks_of(lot: Lot, held: pl.DataFrame) -> pl.DataFrame:
    """Return the peak of each device in each run, by each kind of reading."""
    placed = placed_hours(
        lot.hours, held.select("device", "run_id", "from_ns", "to_ns")
    )
    believed = lot.days.group_by("device").agg(
        ceiling_w=pl.col("ceiling_w").max().fill_null(CEILING_W)
    )
    highest = {
        kind: pl.coalesce(*(pl.col(f"{kind}_{at}_w").max() for at in ("peak", "edge")))
        for kind in COLUMN
    }
    found = placed.group_by("run_id", "device").agg(**highest)
    return found.join(believed, on="device")


def _peaks(peaks: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """Return the peaks of the devices of each run, added up."""
    is_instant = pl.col("semantics") == "instant"
    power = pl.when(is_instant).then("instant").otherwise("average")
    mine = (
        peaks.join(told.select("run_id", "semantics"), on="run_id")
        .select("run_id", "device", "ceiling_w", power_w=power)
        .drop_nulls("power_w")
    )
    milli = [
        (pl.col(name) * MW).round().cast(pl.Int64).sum() / MW
        for name in ("power_w", "ceiling_w")
    ]
    return mine.group_by("run_id").agg(
        peaks_w=milli[0],
        ceiling_w=milli[1],
        devices_count=pl.col("device").n_unique().cast(pl.Int64),
    )
