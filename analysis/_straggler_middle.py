"""Medians of arrays: of the peers of a rank, and over the steps of a block."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]
Real = npt.NDArray[np.float64]
Number = npt.NDArray[Any]

_LAST: Final = -1


class Middle(NamedTuple):
    """What tells of each row of an array the median of the others of any value.

    A value at or below `low` has `below` for the median of the others, one beyond
    `high` has `above`, and one between the two `between`. Each is a column, and so is
    the `median` of all.
    """

    low: Number
    high: Number
    below: Real
    between: Real
    above: Real
    median: Real


def middle_of(values: Number) -> Middle:
    """Return the middle of each row, of two values at least.

    Args:
        values: Steps by ranks.
    """
    others = values.shape[_LAST] - 1
    at, to = (others - 1) // 2, others // 2
    wanted = sorted({at, at + 1, to, to + 1})
    parted = np.partition(values, wanted, axis=_LAST)
    low, low_next = parted[..., at, None], parted[..., at + 1, None]
    high, high_next = parted[..., to, None], parted[..., to + 1, None]
    return Middle(
        low,
        high,
        below=(low_next + high_next) / 2,
        between=(low + high_next) / 2,
        above=(low + high) / 2,
        median=(low + low_next) / 2 if others % 2 else high / 1,
    )


def peers_median(values: Number, middle: Middle) -> Real:
    """Return for each value the median of the others of its row.

    Args:
        values: Some or all columns of what the middle is of.
        middle: The middle of each row.
    """
    if np.array_equal(middle.low, middle.high):
        return np.where(values <= middle.low, middle.below, middle.above)
    upper = np.where(values <= middle.high, middle.between, middle.above)
    return np.where(values <= middle.low, middle.below, upper)


def block_medians(values: Number, length: int) -> Number:
    """Return the median of every block of rows, column by column.

    Rows are sorted by a network of exchanges, whole rows at a time.
    Source: merge exchange; Batcher, AFIPS 32, 1968; Knuth 3, algorithm 5.2.2M.

    Args:
        values: Steps by ranks, without NaN; the last block may be shorter.
        length: Steps of a block. [1]
    """
    whole = len(values) // length * length
    blocks = values[:whole].reshape(whole // length, length, values.shape[1])
    medians = [values[:0]]
    if whole:
        medians.append(median_of([blocks[:, step] for step in range(length)]))
    if whole < len(values):
        medians.append(median_of(list(values[whole:]))[None])
    return np.concatenate(medians)


def median_of(rows: list[Number]) -> Number:
    """Return the median of some arrays of one shape, value by value, without NaN."""
    for one, other in _exchanges(len(rows)):
        low = np.minimum(rows[one], rows[other])
        rows[other] = np.maximum(rows[one], rows[other])
        rows[one] = low
    middle = len(rows) // 2
    if len(rows) % 2:
        return rows[middle]
    found: Number = (rows[middle - 1] + rows[middle]) / 2
    return found


@cache
def _exchanges(count: int) -> tuple[tuple[int, int], ...]:
    return tuple(_merge_exchange(count))


def _merge_exchange(count: int) -> Iterator[tuple[int, int]]:
    top = 1 << max(0, (count - 1).bit_length() - 1)
    part = top
    while part > 0 and count > 1:
        width, offset, apart = top, 0, part
        while apart > 0:
            for first in range(count - apart):
                if first & part == offset:
                    yield first, first + apart
            apart, width, offset = width - part, width // 2, part
        part //= 2


def known_median(values: Number) -> Number:
    """Return the median over the last axis of what is known, NaN where nothing is.

    Args:
        values: Any array; NaN is not known.
    """
    ordered = np.sort(values, axis=_LAST)
    count = np.sum(~np.isnan(values), axis=_LAST)
    low, high = np.maximum(count - 1, 0) // 2, count // 2
    high = np.minimum(high, values.shape[_LAST] - 1)
    pair = np.stack([low, high], axis=_LAST)
    taken = np.take_along_axis(ordered, pair, axis=_LAST)
    middle: Number = taken.sum(axis=_LAST) / 2
    return np.where(count > 0, middle, np.nan)
