"""Hours of devices that are sampled at the same times, in arrays."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from analysis._energy_bridges import Bridges
from analysis._energy_segments import ABOVE_LIMIT, CEILING_W, LEAST_LIMIT_W
from analysis._power_roll_array_days import edges_of_day
from analysis._power_roll_arrays import is_plain, loads, of_methods, slowed
from analysis._power_roll_block import Block, Cuts
from analysis._power_roll_crowd import Crowd, Spans
from analysis._power_roll_fleet import NOTHING
from analysis._power_roll_lots import Lot, Rolled
from analysis._power_roll_sorts import COLUMNS, Sorts
from analysis._power_roll_stack import ByDevice, Columned, Stack, stacked
from analysis._throttle_times import COUNTERS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]
    Columns = dict[str, Array | None]

#: Levels that are power of one GPU.
_OF_GPUS: Final = ("gpu_board", "module")

#: Columns that only boards are looked at for.
_OF_BOARDS: Final = ("throttle_reasons", *COUNTERS.values())


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
    hours = stacked([one for one, _ in told]).with_columns(doubts=_doubts())
    days = stacked([one for _, one in told])
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
        self._pieces = ByDevice(lot.pieces, ("from_ns", "to_ns", "taken_from_ns"))
        self._spans = ByDevice(lot.spans, ("level", "run_id", "from_ns", "to_ns"))
        self._held = ByDevice(lot.held, ("from_ns", "to_ns"))

    def told(self) -> Iterator[tuple[Stack, Stack]]:
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
        starts_ns, ends_ns, taken_ns = self._pieces.of(device)
        holds = np.array(self._held.of(device), dtype=np.int64)
        edges = np.append(starts_ns, ends_ns[-1]).astype(np.int64)
        return Block(times, Cuts(edges, taken_ns.astype(np.int64), holds))

    def _span(self, row: int) -> Spans:
        columns = self._spans.of(self._devices[row])
        return tuple(zip(*(column.tolist() for column in columns), strict=True))

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
    ) -> tuple[Stack, Stack]:
        limit, level = values["power_limit_w"], self._levels[rows[0]]
        if limit is not None and (limit < LEAST_LIMIT_W).any():
            values["power_limit_w"] = limit = np.where(
                limit >= LEAST_LIMIT_W, limit, np.nan
            )
        devices = self._devices[rows]
        hours: Columned = dict(of_methods(block, values, self._bridges))
        hours["samples_count"] = block.counts
        warmth = values["temperature_c"]
        for name, of in (("limit_w", limit), ("temperature_c", warmth)):
            if of is not None:
                hours[name] = block.highest(of)
        hours["is_module"] = np.array(level == "module")
        if level == "gpu_board":
            held = slowed(block, values, self._bridges) | loads(block, values)
            is_held = block.summed((block.hold >= 0).astype(np.int64)) > 0
            hours |= {name: (value, is_held) for name, value in held.items()}
        pieces = np.arange(block.counts.size)
        return (
            Stack(devices[:, None], hours | {"piece": pieces}),
            Stack(devices, edges_of_day(block, values, ceiling)),
        )


def _doubts() -> pl.Expr:
    is_seen = pl.col("is_module") & (pl.col("samples_count") > 0)
    return pl.when(is_seen).then(pl.lit("module"))
