"""When nothing was written for long, and when something was between two rotations."""

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ingest.times import DAY_NS, HOUR_NS

#: Silence that is passed over: jobs rest for a night, and a day passes in 24 s at the
#: speed of an hour in a second. [ns]
SILENCE_NS: Final = DAY_NS


class Silence(NamedTuple):
    """A time in which nothing was written. [ns]

    Attributes:
        begin_ns: When it begins.
        end_ns: Shortly before it ends.
    """

    begin_ns: int
    end_ns: int


def silences_of(
    times: Iterable[npt.NDArray[np.int64]], least_ns: int = SILENCE_NS
) -> list[Silence]:
    """Return the long times in which nothing was written, in order.

    Args:
        times: When each file was written. [ns]
        least_ns: From where on a time is long, in whole hours. [ns]
    """
    hours = np.unique(np.concatenate([np.unique(one // HOUR_NS) for one in times]))
    long = np.flatnonzero(np.diff(hours) > least_ns // HOUR_NS)
    return [
        Silence((int(hours[n]) + 1) * HOUR_NS, int(hours[n + 1]) * HOUR_NS - 1)
        for n in long
    ]


def periods_of(times: Iterable[npt.NDArray[np.int64]], every_ns: int) -> list[int]:
    """Return the ends of the periods in which anything was written, in order. [ns]

    Args:
        times: When each file was written. [ns]
        every_ns: Length of a period, of which whole ones have passed since 1970. [ns]
    """
    found = np.concatenate([np.unique(-(-one // every_ns)) for one in times])
    return [int(period) * every_ns for period in np.unique(found)]
