"""Intervals of many seats laid end to end on one line of integers.

Seats share no time on the line, so that no interval need be told whose it is: sorting,
unions and look-ups are those of a single seat, and plain arithmetic.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

#: Length of a line: sums of any two places on it are integers of 64 bits. [ns]
LINE_MAX: Final = 2**62

Numbers = npt.NDArray[np.int64]


class Spans(NamedTuple):
    """Intervals on a line.

    Attributes:
        start: Where each begins. [ns]
        end: Where each ends. [ns]
    """

    start: Numbers
    end: Numbers

    @property
    def length(self) -> Numbers:
        """Return how long each is. [ns]"""
        return self.end - self.start

    def take(self, which: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> "Spans":
        """Return some of them."""
        return Spans(self.start[which], self.end[which])

    def cut(self, start: Numbers, end: Numbers) -> "Spans":
        """Return each clipped to bounds of its own; none is shorter than nothing."""
        begun = np.maximum(self.start, start)
        return Spans(begun, np.maximum(np.minimum(self.end, end), begun))


class Line(NamedTuple):
    """Where the windows of seats are on a line.

    Attributes:
        window: The window of each seat by its own clock. [ns]
        stride: From the beginning of one seat to that of the next. [ns]
    """

    window: Spans
    stride: int

    @classmethod
    def of(cls, window: Spans) -> "Line":
        """Return a line for windows.

        Args:
            window: The window of each seat; no more of them than `seats_of` says.
        """
        return cls(window, _stride(window))

    def place(self, seat: Numbers, time: Numbers) -> Numbers:
        """Return where times of seats are on the line, clipped to their windows."""
        begun = self.window.start[seat]
        inside = np.clip(time, begun, self.window.end[seat])
        return seat * self.stride + (inside - begun)

    def sums(self, at: Numbers, length: Numbers) -> Numbers:
        """Return the sum of lengths by seat.

        Args:
            at: Where each is on the line, ascending or not. [ns]
            length: What is added up. [ns]
        """
        found = np.zeros(len(self.window.start), dtype=np.int64)
        np.add.at(found, at // self.stride, length)
        return found


def seats_of(window: Spans) -> int:
    """Return how many seats with such windows fit on one line, at least one. [1]"""
    return max(1, LINE_MAX // _stride(window))


def _stride(window: Spans) -> int:
    return int(window.length.max(initial=0)) + 1


def gaps_on(line: Line, work: Spans) -> Spans:
    """Return the gaps that work leaves in windows, ascending; none without length.

    Args:
        line: The windows.
        work: Intervals on the line.
    """
    seats = np.arange(len(line.window.start), dtype=np.int64)
    first, last = (line.place(seats, edge) for edge in line.window)
    starts = np.concatenate([first, work.start, last])
    order = np.argsort(starts, kind="stable")
    reached = np.maximum.accumulate(np.concatenate([first, work.end, last])[order])
    until = starts[order][1:]
    is_gap = (reached[:-1] < until) & (order[1:] >= len(first))
    return Spans(reached[:-1][is_gap], until[is_gap])


def added(spans: Spans) -> Numbers:
    """Return what each interval adds to the union of those before it. [ns]

    Args:
        spans: Intervals, sorted by start.
    """
    reached = np.maximum.accumulate(spans.end)
    begun = spans.start.copy()
    begun[1:] = np.maximum(begun[1:], reached[:-1])
    grown: Numbers = np.maximum(spans.end - begun, 0)
    return grown
