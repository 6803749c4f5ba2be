"""Condenses a day of samples of power, some whole devices at a time."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis._analysis import Frames, Results, Thresholds
from analysis._energy_bridges import bridges_of
from analysis._energy_choice import METHODS
from analysis._energy_windows import DEVICE
from analysis._power_roll_columns import SHORT
from analysis._power_roll_crowd import Crowd
from analysis._power_roll_dense import dense
from analysis._power_roll_fleet import NOTHING, Grids
from analysis._power_roll_general import general
from analysis._power_roll_lots import Holders, Lot, lot_of
from analysis._power_roll_results import Part, named, results
from analysis._power_sensor import grid_of
from analysis._rollup import Day
from analysis._threads import ahead

#: Columns that are read.
COLUMNS: Final = (
    *("file_id", *DEVICE, "level", "time_ns", "time_quality", "power_average_w"),
    *("power_instant_w", "power_limit_w", "energy_mj", "temperature_c"),
    *("sm_clock_mhz", "throttle_reasons", "throttle_power_ns", "throttle_thermal_ns"),
    *("last_xid", "utilization_ratio", "series", "series_count"),
)

#: Samples that are worked on at once in the general way.
LOT_SAMPLES: Final = 500_000

_NAMES: Final = (*DEVICE, "level")


def roll(day: Day, frames: Frames, thresholds: Thresholds) -> Results:
    """Condense a day of a cluster: hours, edges of the day, and the fleet's power.

    Devices that are sampled together, and of which nothing is to be doubted, go in
    arrays; all others one by one, by the measures of energy themselves.

    Args:
        day: Samples of the day.
        frames: Who held what.
        thresholds: Which silences are bridged.
    """
    bridges, holders = bridges_of(thresholds), Holders.of(day, frames)
    grids: Grids = {}
    crowd, parts, fleet = Crowd(), list[Part](), NOTHING
    for lot in ahead(_whole_lots(day, holders)):
        devices = lot.devices
        grids = {**grids, **_grids(lot.samples, grids)}
        rolled, rest = dense(lot, bridges, crowd)
        parts += [named(devices, rolled)] if rolled else []
        for one in _lots(lot, rest):
            told = general(one, bridges, grids)
            fleet = fleet.plus(told.fleet)
            parts.append(named(devices, told))
        crowd.settle(grids)
    return results(day, parts, fleet.plus(crowd.fleet(grids)), grids)


def _whole_lots(day: Day, holders: Holders) -> Iterator[Lot]:
    """Yield the samples of each window with what they are cut by."""
    for window in day.read(COLUMNS, None):
        samples, devices = _devices(window)
        if not devices.is_empty():
            yield lot_of(samples, devices, holders)


def _devices(window: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Number the devices of a window; of a board and its module the board counts."""
    is_new = pl.any_horizontal(
        pl.col(name).ne_missing(pl.col(name).shift(1)) for name in _NAMES
    ).fill_null(value=True)
    is_first = pl.int_range(pl.len()) == 0
    numbered = window.with_columns(device=(is_new | is_first).cum_sum().cast(pl.Int64))
    devices = (
        numbered.group_by("device", maintain_order=True)
        .agg(
            pl.col(_NAMES).first(),
            first_ns=pl.col("time_ns").min(),
            last_ns=pl.col("time_ns").max(),
            samples=pl.len().cast(pl.Int64),
        )
        .sort("device")
    )
    has_board = (pl.col("level") == "gpu_board").any().over(DEVICE)
    is_repeated = (pl.col("level") == "module") & has_board
    if not devices.select(is_repeated.any()).item():
        return numbered, devices
    kept = devices.filter(~is_repeated)
    return numbered.join(kept, on="device", how="semi", maintain_order="left"), kept


def _grids(samples: pl.DataFrame, known: Grids) -> Grids:
    """Return how far apart points are, of kinds of readings that are new."""
    found = {}
    for column in METHODS.values():
        short = SHORT[column]
        if short in known or not samples[column].count():
            continue
        found[short] = grid_of(samples.drop_nulls(column), column)
    return found


def _lots(lot: Lot, rest: pl.Series) -> Iterator[Lot]:
    """Yield the devices that are left in lots that fit into memory."""
    left = lot.devices.filter(pl.col("device").is_in(rest.implode()))
    before = pl.col("samples").cum_sum() - pl.col("samples")
    numbered = left.with_columns(_lot=before // LOT_SAMPLES)
    for part in numbered.partition_by("_lot", maintain_order=True):
        yield lot.only(part["device"])
