"""Hours of devices that are sampled at the same times, in arrays."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from analysis._energy_segments import ABOVE_LIMIT, CEILING_W, LEAST_LIMIT_W, Bridges
from analysis._power_roll_array_days import edges_of
from analysis._power_roll_arrays import is_plain, loads, of_methods, slowed
from analysis._power_roll_block import Block, Cuts
from analysis._power_roll_crowd import Crowd, Spans
from analysis._power_roll_fleet import NOTHING
from analysis._power_roll_lots import Lot, Rolled
from analysis._power_roll_sorts import COLUMNS, Sorts
from analysis._throttle_times import COUNTERS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]
    Columns = dict[str, Array | None]

#: Levels that are power of one GPU.
_OF_GPUS: Final = ("gpu_board", "module")

#: Columns that only boards are looked at for.
_OF_BOARDS: Final = ("throttle_reasons", *COUNTERS.values())


class Told(NamedTuple):
    """What is kept of the devices of one array."""

    hours: pl.DataFrame
    days: pl.DataFrame


def dense(lot: Lot, bridges: Bridges, crowd: Crowd) -> tuple[Rolled | None, pl.Series]:
    """Condense the devices that are sampled together and not to be doubted.

    Args:
        lot: Samples of some devices, whole, sorted by device and time.
        bridges: Which silences are bridged.
        crowd: Takes what they draw together.

    Returns:
        What is kept of them, and the devices that are left.
    """
    told = list(_Arrays(lot, bridges, crowd).told())
    numbers = lot.devices["device"]
    if not told:
        return None, numbers
    hours = pl.concat([one.hours for one in told], how="diagonal")
    days = pl.concat([one.days for one in told], how="diagonal")
    rest = numbers.filter(~numbers.is_in(days["device"].implode()))
    xids = pl.DataFrame(
        schema={
            "device": pl.Int64(),
            "time_ns": pl.Int64(),
            "before_xid": pl.Int64(),
            "last_xid": pl.Int64(),
        }
    )
    names = lot.pieces.select("device", "piece", "from_ns", "to_ns", "run_id")
    named = hours.join(names, on=["device", "piece"], how="left")
    return Rolled(named, days, NOTHING, xids), rest


class _Arrays:
    """Samples of a lot, column by column."""

    def __init__(self, lot: Lot, bridges: Bridges, crowd: Crowd) -> None:
        self._sorts, self._bridges, self._crowd = Sorts(lot), bridges, crowd
        self._values = {
            name: lot.samples[name].fill_null(0).to_numpy() for name in COLUMNS
        }
        self._times = lot.samples["time_ns"].to_numpy()
        self._devices = lot.devices["device"].to_numpy()
        self._levels = lot.devices["level"].to_list()
        self._pieces = _by_device(lot.pieces)
        self._spans = _by_device(lot.spans)
        self._held = _by_device(lot.held)

    def told(self) -> Iterator[Told]:
        """Yield what is kept of each array of devices."""
        for rows in self._sorts.groups():
            block, level = self._block(int(rows[0])), self._levels[rows[0]]
            values, ceiling = self._columns(rows), self._ceiling(rows, level)
            plain = is_plain(block, values, ceiling) & self._is_still(rows)
            if not plain.any():
                continue
            if not plain.all():
                values = {
                    name: None if one is None else one[plain]
                    for name, one in values.items()
                }
            kept = rows[plain]
            self._crowd.add(block, values, self._span(int(rows[0])), self._bridges)
            yield self._of(kept, block, values, ceiling[plain])

    def _block(self, row: int) -> Block:
        starts, device = self._sorts.starts, self._devices[row]
        times = self._times[starts[row] : starts[row + 1]]
        pieces = self._pieces[device].sort("piece")
        held = self._held.get(device)
        holds = (
            np.zeros((2, 0), dtype=np.int64)
            if held is None
            else held.sort("from_ns").select("from_ns", "to_ns").to_numpy().T
        )
        edges = np.append(pieces["from_ns"].to_numpy(), pieces["to_ns"][-1])
        return Block(times, Cuts(edges, pieces["taken_from_ns"].to_numpy(), holds))

    def _span(self, row: int) -> Spans:
        spans = self._spans.get(self._devices[row])
        if spans is None:
            return ()
        return tuple(spans.select("level", "run_id", "from_ns", "to_ns").iter_rows())

    def _columns(self, rows: "Array") -> "Columns":
        starts, first = self._sorts.starts, int(rows[0])
        part = slice(starts[first], starts[int(rows[-1]) + 1])
        board = self._levels[first] == "gpu_board"
        return {
            name: values[part].reshape(rows.size, -1)
            if self._sorts.has[name][first] and (board or name not in _OF_BOARDS)
            else None
            for name, values in self._values.items()
        }

    def _is_still(self, rows: "Array") -> "Array":
        """Return whether the gauge of the last Xid of each device never moves."""
        gauge = self._columns(rows)["last_xid"]
        if gauge is None:
            return np.ones(rows.size, dtype=bool)
        return np.asarray((gauge == gauge[:, :1]).all(axis=1))

    def _ceiling(self, rows: "Array", level: str) -> "Array":
        """Return the most that each device is believed. [W]"""
        if level not in _OF_GPUS:
            return np.full(rows.size, np.inf)
        limit = self._columns(rows)["power_limit_w"]
        if limit is None:
            return np.full(rows.size, CEILING_W)
        highest = limit.max(axis=1)
        return np.where(highest >= LEAST_LIMIT_W, highest * ABOVE_LIMIT, CEILING_W)

    def _of(
        self, rows: "Array", block: Block, values: "Columns", ceiling: "Array"
    ) -> Told:
        limit, level = values["power_limit_w"], self._levels[rows[0]]
        if limit is not None and (limit < LEAST_LIMIT_W).any():
            values["power_limit_w"] = limit = np.where(
                limit >= LEAST_LIMIT_W, limit, np.nan
            )
        hours = of_methods(block, values, self._bridges)
        hours["samples_count"] = block.counts
        for name, of in (("limit_w", limit), ("temperature_c", values["temperature_c"])):
            if of is not None:
                hours[name] = block.highest(of)
        if level == "gpu_board":
            held = slowed(block, values, self._bridges) | loads(block, values)
            is_held = block.summed((block.hold >= 0).astype(np.int64)) > 0
            hours |= {name: (value, is_held) for name, value in held.items()}
        devices = self._devices[rows]
        return Told(
            _hours(devices, block, hours, is_module=level == "module"),
            _days(devices, block, values, ceiling),
        )


def _by_device(rows: pl.DataFrame) -> dict[int, pl.DataFrame]:
    parts = rows.partition_by("device", as_dict=True, maintain_order=True)
    return {int(key[0]): part for key, part in parts.items()}


def _hours(
    devices: "Array", block: Block, hours: "dict[str, Any]", *, is_module: bool
) -> pl.DataFrame:
    """Return a row for each device and piece."""
    shape = (devices.size, block.counts.size)
    columns = {
        "device": np.repeat(devices, shape[1]),
        "piece": np.tile(np.arange(shape[1]), shape[0]),
    }
    flat = {}
    for name, value in hours.items():
        values, known = value if isinstance(value, tuple) else (value, None)
        told = pl.Series(np.broadcast_to(values, shape).ravel(), nan_to_null=True)
        if known is not None and not known.all():
            is_known = np.broadcast_to(known, shape).ravel()
            told = told.set(pl.Series(~is_known), None)
        flat[name] = told
    told = pl.DataFrame(columns | flat)
    doubt = pl.when(pl.col("samples_count") > 0).then(pl.lit("module"))
    return told.with_columns(
        doubts=doubt if is_module else pl.lit(None, pl.String)
    )


def _days(
    devices: "Array", block: Block, values: "Columns", ceiling: "Array"
) -> pl.DataFrame:
    """Return a row for each device."""
    told = edges_of(block, values)
    gauge = values["last_xid"]
    if gauge is not None:
        told |= {"xid_first": gauge[:, 0], "xid_last": gauge[:, -1]}
        told["xid_first_ns"], told["xid_last_ns"] = block.times[0], block.times[-1]
    told |= {
        "first_ns": block.times[0],
        "last_ns": block.times[-1],
        "samples_count": block.times.size,
        "ceiling_w": np.where(np.isfinite(ceiling), ceiling, np.nan),
        "is_file_time": False,
    }
    columns = {
        name: pl.Series(np.broadcast_to(value, devices.shape), nan_to_null=True)
        for name, value in told.items()
    }
    return pl.DataFrame({"device": devices} | columns)
