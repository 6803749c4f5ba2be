"""Rows of some GPUs in single precision, and power and energy at any time in them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from ingest.synthetic.cluster._power_activity import Rows

Floats = NDArray[np.float32]

_PER_NS: Final = 1e-9

_ZERO: Final = np.float32(0)


@dataclass(frozen=True, slots=True)
class Levels:
    """Power of each GPU by what it does, as one row or one for each row. [W]

    Attributes:
        compute: While it works.
        wait: While it waits.
        communication: While it communicates.
        rest: Else; rows x 1.
    """

    compute: Floats
    wait: Floats
    communication: Floats
    rest: Floats


@dataclass(frozen=True, slots=True)
class Cells:
    """Rows x GPUs that samples are taken from.

    Attributes:
        start_ns: When each row begins, and when the last is over. [ns]
        data: See Rows. [s]
        compute: See Rows. [s]
        wait: See Rows. [s]
        communication: See Rows; one column where GPUs are alike. [s]
        levels: Power of each GPU in each row. [W]
        is_busy: See Rows.
        energy: Energy since the first row began, at each start and the end. [J]
    """

    start_ns: NDArray[np.int64]
    data: NDArray[np.float64]
    compute: Floats
    wait: Floats
    communication: Floats
    levels: Levels
    is_busy: NDArray[np.bool_]
    energy: Floats

    @classmethod
    def of(cls, rows: Rows, gpus: slice, levels: Levels) -> Self:
        """Return the cells of some GPUs."""
        compute, wait, communication = (
            _seconds(part[:, :1] if part.strides[1] == 0 else part[:, gpus])
            for part in (rows.compute, rows.wait, rows.communication)
        )
        length = (np.diff(rows.start) * _PER_NS).astype(np.float32)
        spent = (levels.compute - levels.rest) * compute
        spent += (levels.wait - levels.rest) * wait
        spent += (levels.communication - levels.rest) * communication
        spent += levels.rest * length[:, None]
        energy = np.zeros((len(length) + 1, spent.shape[1]), np.float32)
        np.cumsum(spent, axis=0, out=energy[1:])
        return cls(
            start_ns=rows.start,
            data=np.multiply(rows.data, _PER_NS, dtype=np.float64),
            compute=compute,
            wait=wait,
            communication=communication,
            levels=levels,
            is_busy=rows.is_busy,
            energy=energy,
        )

    def row_at(self, times_ns: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the row of each of some times within the rows. [ns]"""
        return np.searchsorted(self.start_ns[1:-1], times_ns, side="right")

    def energy_at(self, times_ns: NDArray[np.int64]) -> Floats:
        """Return the energy since the first row began; times x GPUs. [J]

        Args:
            times_ns: Times within the rows. [ns]
        """
        row = self.row_at(times_ns)
        rest = self.levels.rest[row]
        inside = (times_ns - self.start_ns[row]) * _PER_NS
        energy = self.energy[row]
        energy += rest * inside.astype(np.float32)[:, None]
        for worked, length, above in self._parts(row, times_ns):
            energy += (above - rest) * np.clip(worked, _ZERO, length)
        return energy

    def power_at(self, times_ns: NDArray[np.int64]) -> Floats:
        """Return the power; times x GPUs. [W]

        Args:
            times_ns: Times within the rows. [ns]
        """
        row = self.row_at(times_ns)
        power = np.broadcast_to(self.levels.rest[row], (len(row), self._width))
        for worked, length, above in self._parts(row, times_ns):
            power = np.where((worked >= _ZERO) & (worked < length), above, power)
        return power

    def busy_at(self, times_ns: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the share with a kernel of the rows of some times; times x GPUs. [%]

        Args:
            times_ns: Times within the rows. [ns]
        """
        row = self.row_at(times_ns)
        length = (np.diff(self.start_ns) * _PER_NS).astype(np.float32)[row]
        share = self.compute[row] + self.wait[row] + self.communication[row]
        share = np.broadcast_to(share, (len(row), self._width)) * (
            100 / np.maximum(length, np.float32(1e-9))[:, None]
        )
        share[self.is_busy[row]] = 100
        whole: NDArray[np.uint8] = np.minimum(share, 100).astype(np.uint8)
        return whole

    @property
    def _width(self) -> int:
        return int(self.energy.shape[1])

    def _parts(
        self, row: NDArray[np.intp], times_ns: NDArray[np.int64]
    ) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Yield since when each part of a row goes on, its length and its power."""
        inside = (times_ns - self.start_ns[row]) * _PER_NS
        worked = (inside - self.data[row]).astype(np.float32)[:, None]
        for part, level in (
            (self.compute, self.levels.compute),
            (self.wait, self.levels.wait),
            (self.communication, self.levels.communication),
        ):
            length = part[row]
            yield worked, length, level if len(level) == 1 else level[row]
            worked = worked - length


def spent(rows: Rows, gpus: slice, levels: Levels) -> NDArray[np.float64]:
    """Return the energy of all rows, of each of some GPUs, without those of each. [J]

    Args:
        rows: What the GPUs do.
        gpus: Their columns.
        levels: Power of each GPU in each row. [W]
    """
    length, rest = np.diff(rows.start), levels.rest[:, 0].astype(np.float64)
    usual, odd = rest[0], np.flatnonzero(rest != rest[0])
    total: NDArray[np.float64] = np.full(
        levels.wait.shape[1], (rest * length).sum(), np.float64
    )
    for part, level in (
        (rows.compute, levels.compute),
        (rows.wait, levels.wait),
        (rows.communication, levels.communication),
    ):
        own = part[:, gpus]
        total += (level[0] - usual) * own.sum(axis=0)
        total -= (rest[odd] - usual) @ own[odd]
        unlike = np.flatnonzero((level != level[0]).any(axis=0))
        total[unlike] += ((level[:, unlike] - level[0, unlike]) * own[:, unlike]).sum(0)
    return total * _PER_NS


def _seconds(nanos: NDArray[np.int64]) -> Floats:
    """Return times in single precision. [s]"""
    seconds = np.empty(nanos.shape, np.float32)
    np.multiply(nanos, _PER_NS, out=seconds, casting="unsafe")
    return seconds
