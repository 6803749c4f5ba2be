"""What condenses a day of raw rows, so that no analysis has to hold them all."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import polars as pl

from analysis._analysis import Frames, Results, Thresholds
from ingest.tables import Table

#: First and last value of the column that windows are cut by, both included.
Bounds = tuple[int, int]

#: Reads columns of the rows within bounds, or of all rows, window by window.
ReadWindows = Callable[[Sequence[str], Bounds | None], Iterator[pl.DataFrame]]


#: Windows that are worked on at once where nobody said otherwise. [1]
JOBS: Final = 2


@dataclass(frozen=True, slots=True)
class Day:
    """Raw rows of one owner and one UTC day, read a window at a time.

    Windows come in the order of the table's key and part no group: all ranks of a step
    of an attempt are in one, and all samples of a device. So what reads them holds one
    window and what it keeps of those before.

    Attributes:
        owner: Run or cluster that the rows are of.
        day: UTC day, as YYYY-MM-DD.
        read: Reads the rows. Bounds are those of `step` for steps, and of `time_ns`
            for samples of power.
        jobs: Windows that may be worked on at once; what is kept of them must not
            depend on it. [1]
    """

    owner: str
    day: str
    read: ReadWindows
    jobs: int = JOBS


#: Column that bounds are of, by whether a table has it: steps, and samples.
_BOUNDED: Final = ("step", "time_ns")


def held_day(owner: str, day: str, windows: Sequence[pl.DataFrame]) -> Day:
    """Return a day whose rows are in memory: it gives what one of a lake would.

    Args:
        owner: Run or cluster that the rows are of.
        day: UTC day, as YYYY-MM-DD.
        windows: Rows, sorted and cut as `Day` says.
    """
    return Day(owner, day, partial(_read_held, tuple(windows)))


def _read_held(
    windows: Sequence[pl.DataFrame], columns: Sequence[str], bounds: Bounds | None
) -> Iterator[pl.DataFrame]:
    for window in windows:
        if bounds is None:
            yield window.select(columns)
            continue
        bounded = next(name for name in _BOUNDED if name in window.columns)
        yield window.filter(pl.col(bounded).is_between(*bounds)).select(columns)


@dataclass(frozen=True, slots=True)
class Rollup:
    """A table of raw rows, and what is kept of each of its days.

    It stands in ANALYSES among the analyses, and is computed in its turn for the days
    of those owners that have too many rows to be read at once, or whose raw rows are
    to be retired.

    Attributes:
        name: Name of the rollup, that of its file.
        version: Raised when equal inputs give other results.
        describes: What is kept, in one line.
        source: Table of raw rows.
        owner: Column by which its rows belong to a run or a cluster.
        inputs: Other tables it reads: raw ones as of the day, results of the owner as
            far as they touch the day, their intervals cut at its end.
        outputs: Tables it fills, each with the owner's column.
        compute: The condensing: pure, one pass or few, bounded memory.
        thresholds: Every threshold that may be set, with its default.
        reads: Columns that it reads of results, where that is not all: a day is
            computed anew when one of them has changed, and a running attempt ends later
            each day.
        stand_in: What analyses are given for the raw rows of its owners, from the
            tables that it fills; nothing where None.
    """

    name: str
    version: int
    describes: str
    source: type[Table]
    owner: str
    inputs: tuple[type[Table], ...]
    outputs: tuple[type[Table], ...]
    compute: Callable[[Day, Frames, Thresholds], Results]
    thresholds: Mapping[str, float] = field(default_factory=dict)
    reads: Mapping[type[Table], tuple[str, ...]] = field(default_factory=dict)
    stand_in: Callable[[Frames], pl.LazyFrame] | None = None
