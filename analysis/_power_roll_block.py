"""Devices that are sampled at the same times: their samples as arrays."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from analysis._energy_bridges import Bridges
from ingest.times import SECOND_NS

if TYPE_CHECKING:
    import numpy.typing as npt

    Times = npt.NDArray[np.int64]
    Numbers = npt.NDArray[np.float64]
    Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Cuts:
    """What the time of some devices is cut by.

    Attributes:
        edges: Edges of their pieces, one more than there are pieces. [ns]
        taken: From when on samples are of each piece. [ns]
        holds: Starts and ends of holds, a row each. [ns]
    """

    edges: "Times"
    taken: "Times"
    holds: "Times"


class Block:
    """Times of samples, and the pieces that they are cut to.

    Attributes:
        times: Times of samples. [ns]
        lengths: Time until the next. [ns]
        counts: Samples of each piece.
        hold: Number of the hold that each sample is in; -1 in none.
        is_joined: Whether a sample and the next are in one hold.
        usual_ns: Median of the lengths. [ns]
        is_even: Whether all of them are the same.
    """

    def __init__(self, times: "Times", cuts: Cuts) -> None:
        """Cut times.

        Args:
            times: Times of samples, two at least, rising. [ns]
            cuts: What they are cut by.
        """
        self.times, self.lengths, self.cuts = times, np.diff(times), cuts
        self._low = np.searchsorted(times, cuts.taken, "left")
        self._low[0] = 0
        ends = np.append(self._low[1:], times.size)
        self.counts = ends - self._low
        self._segment = np.searchsorted(times, cuts.edges, "right") - 1
        self.since = cuts.edges - times[self._segment]
        self.hold = self._holds()
        same = self.hold[1:] == self.hold[:-1]
        self.is_joined = same & (self.hold[1:] >= 0)
        self.usual_ns = float(np.median(self.lengths))
        self.is_even = bool((self.lengths == self.lengths[0]).all())

    def _holds(self) -> "Array":
        starts, ends = self.cuts.holds
        if not starts.size:
            return np.full(self.times.size, -1)
        found = np.searchsorted(starts, self.times, "right") - 1
        inside = (found >= 0) & (self.times <= ends[np.maximum(found, 0)])
        return np.where(inside, found, -1)

    def summed(self, values: "Array") -> "Array":
        """Add values of samples up to pieces.

        Args:
            values: A row for each device, or one for all, and a column for each sample.
        """
        return self._reduced(np.add, values, 0)

    def highest(self, values: "Numbers") -> "Numbers":
        """Return the greatest value of each piece; NaN where it has no sample.

        Args:
            values: As for `summed`.
        """
        return self._reduced(np.fmax, values, np.nan)

    def _reduced(self, by: "np.ufunc", values: "Array", empty: float) -> "Array":
        at = np.minimum(self._low, self.times.size - 1)
        found = by.reduceat(values, at, axis=-1)
        if (self.counts == 0).any():
            found = np.where(self.counts == 0, empty, found).astype(found.dtype)
        return found

    def between(self, values: "Array", partial: "Array") -> "Array":
        """Add what is between samples up to pieces, cutting it at their edges.

        Args:
            values: What each silence stands for, a column less than there are samples.
            partial: What it stands for up to each edge in it.
        """
        first, last = self._segment[:-1], self._segment[1:]
        at = np.minimum(first, values.shape[-1] - 1)
        whole = np.add.reduceat(values, at, axis=-1)
        whole = np.where(first == last, 0, whole)
        return whole - partial[..., :-1] + partial[..., 1:]

    def upto(self, rates: "Array") -> "Array":
        """Return a rate over the time from the last sample to each edge.

        Args:
            rates: A rate of each silence.
        """
        at = np.minimum(self._segment, rates.shape[-1] - 1)
        return np.where(self.is_last, 0, rates[..., at] * self.since)

    @property
    def is_last(self) -> "Array":
        """Whether no sample follows an edge."""
        return self._segment >= self.lengths.size

    def at_edges(self, values: "Array") -> "Array":
        """Return the value of the sample at or before each edge."""
        return values[..., self._segment]

    def after_edges(self, values: "Array") -> "Array":
        """Return the value of the sample after each edge, or the last."""
        return values[..., np.minimum(self._segment + 1, self.times.size - 1)]

    def silences(self, values: "Array") -> "Array":
        """Return the value of the silence that each edge is in."""
        return values[..., np.minimum(self._segment, self.lengths.size - 1)]

    def usual_of(self, is_among: "Array") -> float:
        """Return the median of some silences; NaN where there are none. [ns]"""
        if self.is_even and is_among.any():
            return self.usual_ns
        among = self.lengths[is_among]
        return float(np.median(among)) if among.size else float("nan")


def allowed(bridges: Bridges, usual_ns: float) -> float:
    """Return the longest silence that is bridged. [ns]

    Args:
        bridges: Which silences are bridged.
        usual_ns: Median of silences.
    """
    return min(max(bridges.intervals * usual_ns, bridges.floor_ns), bridges.ceiling_ns)


#: Nanoseconds of a second, as a factor of watts.
_SECOND: Final = float(SECOND_NS)


class Line:
    """Power by straight lines between samples, of devices of one block."""

    def __init__(self, block: Block, power: "Numbers", bridges: Bridges) -> None:
        """Join samples.

        Args:
            block: Their times.
            power: A row for each device. [W]
            bridges: Which silences are bridged.
        """
        self._block, self._power = block, power
        self.is_measured = block.lengths <= allowed(bridges, block.usual_ns)

    def energy_j(self) -> "Numbers":
        """Return the energy of each device and piece. [J]"""
        block = self._block
        length = np.where(self.is_measured, block.lengths, 0)
        whole = (self._power[:, :-1] + self._power[:, 1:]) * (length / 2 / _SECOND)
        start, rise = block.at_edges(self._power), self._rise()
        partial = (start + rise / 2) * block.since / _SECOND
        return block.between(whole, np.where(self._is_seen(), partial, 0.0))

    def edges_w(self) -> "Numbers":
        """Return the greater power at both edges of each piece; NaN if unmeasured."""
        block = self._block
        told = block.at_edges(self._power) + self._rise()
        seen = np.where(self._is_seen(), told, np.nan)
        return np.fmax(seen[:, :-1], seen[:, 1:])

    def lengths_ns(self, *, measured: bool) -> "Times":
        """Return the time of each piece that was measured, or was not. [ns]"""
        told = self.is_measured == measured
        lengths = np.where(told, self._block.lengths, 0)
        return self._block.between(lengths, self._block.upto(told.astype(np.int64)))

    def _rise(self) -> "Numbers":
        """Return by how much power has changed since the sample before each edge."""
        block = self._block
        part = block.since / block.silences(block.lengths)
        return (block.after_edges(self._power) - block.at_edges(self._power)) * part

    def _is_seen(self) -> "Array":
        return self._block.silences(self.is_measured) & ~self._block.is_last
