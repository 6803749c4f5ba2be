"""What condenses a day of raw rows, so that no analysis has to hold them all."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from analysis._analysis import Frames, Results, Thresholds
from ingest.tables import Table

#: First and last value of the column that windows are cut by, both included.
Bounds = tuple[int, int]

#: Reads columns of the rows within bounds, or of all rows, window by window.
ReadWindows = Callable[[Sequence[str], Bounds | None], Iterator[pl.DataFrame]]


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
    """

    owner: str
    day: str
    read: ReadWindows


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
            far as they touch the day.
        outputs: Tables it fills, each with the owner's column.
        compute: The condensing: pure, one pass or few, bounded memory.
        thresholds: Every threshold that may be set, with its default.
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
