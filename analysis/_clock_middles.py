"""What lies outside: middles of groups of numbers, and lines that few outliers move."""

from typing import Final

import numpy as np

from analysis._clock_graph import Flags, Floats, Whole
from analysis.robust import MAD_TO_SD

#: Ends this many standard deviations away are left out. [1]
_MOST_SDS: Final = 5.0

#: Ends no further away than this are never left out. [ns]
_FLOOR_NS: Final = 1_000.0


def middles(group: Whole, values: Floats, groups: int) -> Floats:
    """Return the median of each group; zero where it has none.

    Args:
        group: Group of each value, counted from zero.
        values: Numbers.
        groups: How many groups there are. [1]
    """
    if not len(values):
        return np.zeros(groups)
    ordered = values[np.lexsort((values, group))]
    count = np.bincount(group, minlength=groups)
    first = np.cumsum(count) - count
    low = np.minimum(first + np.maximum(count - 1, 0) // 2, len(values) - 1)
    high = np.minimum(first + count // 2, len(values) - 1)
    middle = ordered[low] + (ordered[high] - ordered[low]) / 2
    return np.where(count > 0, middle, 0.0)


def spread(group: Whole, values: Floats, groups: int) -> Floats:
    """Return the robust standard deviation of each group."""
    away = np.abs(values - middles(group, values, groups)[group])
    return middles(group, away, groups) * MAD_TO_SD


def outside(group: Whole, away: Floats, groups: int) -> Flags:
    """Return which numbers are further from zero than those of their group are."""
    limit = np.maximum(_MOST_SDS * spread(group, away, groups), _FLOOR_NS)
    return np.asarray(np.abs(away) > limit[group])


def outside_lines(group: Whole, time: Floats, values: Floats, groups: int) -> Flags:
    """Return which numbers lie outside the resistant line of their group.

    The line goes through the medians of the first and the last third.
    Source: Tukey, Exploratory Data Analysis, 1977.
    """
    third = _thirds(group, time, groups)
    part = group * 3 + third
    when = middles(part, time, groups * 3).reshape(-1, 3)
    what = middles(part, values, groups * 3).reshape(-1, 3)
    lasts = when[:, 2] - when[:, 0]
    counts = np.bincount(part, minlength=groups * 3).reshape(-1, 3)
    is_line = (lasts > 0) & (counts[:, 0] > 0) & (counts[:, 2] > 0)
    slope = np.where(is_line, what[:, 2] - what[:, 0], 0.0)
    slope /= np.where(is_line, lasts, 1.0)
    left = values - slope[group] * time
    return outside(group, left - middles(group, left, groups)[group], groups)


def _thirds(group: Whole, time: Floats, groups: int) -> Whole:
    count = np.bincount(group, minlength=groups)
    first = np.cumsum(count) - count
    order = np.lexsort((time, group))
    place = np.empty(len(group), dtype=np.int64)
    place[order] = np.arange(len(group))
    return np.asarray((place - first[group]) * 3 // np.maximum(count[group], 1))
