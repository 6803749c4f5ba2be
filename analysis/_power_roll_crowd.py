"""What devices that are sampled together draw in all, added up as arrays."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from analysis._energy_bridges import Bridges
from analysis._energy_choice import METHODS
from analysis._power_held import MW
from analysis._power_roll_block import Block, Line
from analysis._power_roll_columns import SHORT
from analysis._power_roll_fleet import NOTHING, READING, Fleet, Grids, fleet_of
from ingest.times import SECOND_NS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

#: Kinds of times that are added up before they are told point by point.
MOST_KINDS: Final = 64

#: When runs held devices, and at which level these were measured.
Spans = tuple[tuple[str, str | None, int, int], ...]


@dataclass(slots=True)
class Sum:
    """Samples of devices of the same times, added up.

    Attributes:
        times: Their times. [ns]
        spans: Level, run, start and end of what held them.
        measured: Which silences are bridged, by kind of reading.
        powers: Sum, lowest and highest by kind of reading. [mW]
        devices: How many.
    """

    times: "Array"
    spans: Spans
    measured: "dict[str, Array]" = field(default_factory=dict)
    powers: "dict[str, tuple[Array, Array, Array]]" = field(default_factory=dict)
    devices: dict[str, int] = field(default_factory=dict)

    def add(self, block: Block, column: str, values: "Array", bridges: Bridges) -> None:
        """Add the samples of some devices.

        Args:
            block: Their times.
            column: Column that they are of.
            values: A row for each device.
            bridges: Which silences are bridged.
        """
        short = SHORT[column]
        if column == "energy_mj":
            self.measured[short] = np.ones(block.lengths.size, dtype=bool)
            rise = np.diff(values, axis=1).sum(axis=0)
            told = (np.append(rise, 0), rise[:0], rise[:0])
        else:
            self.measured[short] = Line(block, values, bridges).is_measured
            milli = np.rint(values * MW)
            told = (milli.sum(axis=0), milli.min(axis=0), milli.max(axis=0))
        before = self.powers.get(short)
        if before is not None:
            told = (
                before[0] + told[0],
                np.minimum(before[1], told[1]),
                np.maximum(before[2], told[2]),
            )
        self.powers[short] = told
        self.devices[short] = self.devices.get(short, 0) + len(values)

    def readings(self, short: str, number: int) -> pl.DataFrame:
        """Return the sums as readings of one device.

        Args:
            short: Kind of reading.
            number: Number of the device.
        """
        sums, low, high = self.powers[short]
        lengths = np.diff(self.times)
        measured = np.append(self.measured[short], False)
        watts, slope = sums / MW, np.append(np.diff(sums) / MW / lengths, 0.0)
        power = sums
        if short == "counter":
            watts = np.append(sums[:-1] / 1_000 / (lengths / SECOND_NS), 0.0)
            slope, power = np.zeros(sums.size), np.zeros(sums.size)
            low = high = power
        told = pl.DataFrame(
            {
                "time_ns": self.times,
                "watts": np.where(measured, watts, 0.0),
                "slope": np.where(measured, slope, 0.0),
                "is_measured": measured,
                "power_mw": power.astype(np.int64),
                "low_mw": low.astype(np.int64),
                "high_mw": high.astype(np.int64),
            }
        )
        return told.with_columns(
            device=pl.lit(number, pl.Int64),
            length_ns=pl.col("time_ns").shift(-1) - pl.col("time_ns"),
            devices=pl.lit(self.devices[short], pl.Int64),
        ).select(READING)


@dataclass(slots=True)
class Crowd:
    """All devices that went in arrays, and what they drew."""

    _sums: dict[tuple[bytes, Spans], Sum] = field(default_factory=dict)
    _told: Fleet = NOTHING

    def add(
        self,
        block: Block,
        values: "dict[str, Array | None]",
        spans: Spans,
        bridges: Bridges,
    ) -> None:
        """Add devices.

        Args:
            block: Times of their samples.
            values: Samples by column, None where there are none.
            spans: What held them.
            bridges: Which silences are bridged.
        """
        key = (block.times.tobytes(), spans)
        found = self._sums.setdefault(key, Sum(block.times, spans))
        for column in METHODS.values():
            samples = values[column]
            if samples is not None:
                found.add(block, column, samples, bridges)

    def settle(self, grids: Grids, most: int = MOST_KINDS) -> None:
        """Tell sums point by point, where there are many.

        Args:
            grids: How far apart points are.
            most: How many sums are kept.
        """
        if len(self._sums) <= most:
            return
        every = list(self._sums.values())
        readings = {}
        for short in grids:
            rows = [
                one.readings(short, number)
                for number, one in enumerate(every)
                if short in one.powers
            ]
            if rows:
                readings[short] = pl.concat(rows)
        spans = pl.DataFrame(
            [(number, *span) for number, one in enumerate(every) for span in one.spans],
            schema={
                "device": pl.Int64(),
                "level": pl.String(),
                "run_id": pl.String(),
                "from_ns": pl.Int64(),
                "to_ns": pl.Int64(),
            },
            orient="row",
        )
        self._told = self._told.plus(fleet_of(readings, spans, grids))
        self._sums.clear()

    def fleet(self, grids: Grids) -> Fleet:
        """Return what all drew.

        Args:
            grids: How far apart points are.
        """
        self.settle(grids, 0)
        return self._told
