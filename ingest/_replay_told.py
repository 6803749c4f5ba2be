"""What a source's own reader tells of when the lines of a file were written."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from ingest._hashing import Hashed
from ingest._reading import FAULTS
from ingest._replay_silence import SILENCE_NS
from ingest.errors import UnreadableFileError
from ingest.planning import reading_of
from ingest.sources import Batch
from ingest.tables import IngestedFiles, Table
from ingest.times import DAY_NS, SECOND_NS

#: Times before 2000 count from a moment of their own: they tell nothing here. [ns]
_FIRST_NS: Final = 10_957 * DAY_NS

_LINE: Final = r"^line (\d+)"
TIME: Final = "_time"
PLACE: Final = "_line"


@dataclass(slots=True)
class Seen:
    """What the rows of a file tell, of lines no more than a few for each second.

    Attributes:
        rows: Rows. [1]
        unplaced: Rows that tell of no line. [1]
        last_ns: The latest of their times; 0 where none has one. [ns]
        lines: Lines of some rows, and when these were written.
    """

    rows: int = 0
    unplaced: int = 0
    last_ns: int = 0
    lines: list[pl.DataFrame] = field(default_factory=list)

    def take(self, told: pl.DataFrame) -> None:
        """Take the time and the line of each row of a batch."""
        self.rows += told.height
        self.unplaced += told[PLACE].null_count()
        self.last_ns = max(self.last_ns, cast("int | None", told[TIME].max()) or 0)
        timed = told.drop_nulls().sort(PLACE)
        second = (pl.col(TIME) // SECOND_NS).rle_id().alias("second")
        edges = pl.col(PLACE).min(), pl.col(PLACE).max().alias("last")
        runs = timed.group_by(second).agg(*edges, pl.col(TIME).max())
        # the first of a second tells where what was written before it ends
        ends = runs.select(TIME, pl.col("last").alias(PLACE))
        self.lines.append(pl.concat([runs.select(TIME, PLACE), ends]))

    def by_line(self) -> pl.DataFrame:
        """Return the lines in order, and by when each was written."""
        timed = pl.concat(self.lines).filter(pl.col(PLACE) >= 1)
        lines = timed.group_by(PLACE).agg(pl.col(TIME).max()).sort(PLACE)
        return lines.with_columns(pl.Series(TIME, in_order(lines[TIME].to_numpy())))


def in_order(times_ns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return by when each line of a log was written, as lines come in order. [ns]

    A line was written no earlier than those before it. Where most of them would so be
    put off for long by few that are far ahead, these were written when the next was.

    Args:
        times_ns: Times that the lines tell. [ns]
    """
    forward = np.maximum.accumulate(times_ns)
    backward = np.minimum.accumulate(times_ns[::-1])[::-1]
    put_off = np.count_nonzero(times_ns < forward - SILENCE_NS)
    if put_off <= np.count_nonzero(times_ns > backward + SILENCE_NS):
        return forward
    is_off = forward - backward > SILENCE_NS
    return np.maximum.accumulate(np.where(is_off, backward, forward))


def seen_of(hashed: Hashed, stream: BinaryIO) -> Seen:
    """Return what is told of the time and the line of every row."""
    seen = Seen()
    for batch in _batches(hashed, stream):
        for told in _told(batch):
            seen.take(told)
    return seen


def _batches(hashed: Hashed, stream: BinaryIO) -> Iterator[Batch]:
    source = hashed.opened.source
    try:
        if source:
            yield from source.read(stream, reading_of(hashed))
    except (UnreadableFileError, *FAULTS):
        return


def _told(batch: Batch) -> Iterator[pl.DataFrame]:
    for table, rows in batch.rows.items():
        if table is not IngestedFiles:
            yield rows.select(_written(table, rows.columns), _line(rows.columns))


def _written(table: type[Table], columns: list[str]) -> pl.Expr:
    """When a row was written: at the end of what it tells of."""
    start = table.day_column
    if start is None or start not in columns:
        return pl.lit(None, pl.Int64).alias(TIME)
    ends = [pl.col(start)]
    if start == "start_ns" and "duration_ns" in columns:
        ends.append(pl.col(start) + pl.col("duration_ns"))
    if "end_ns" in columns:
        ends.append(pl.col("end_ns"))
    end = pl.max_horizontal(one.cast(pl.Int64) for one in ends)
    return pl.when(pl.col(start) >= _FIRST_NS).then(end).alias(TIME)


def _line(columns: list[str]) -> pl.Expr:
    if "place" not in columns:
        return pl.lit(None, pl.Int64).alias(PLACE)
    return pl.col("place").str.extract(_LINE).cast(pl.Int64).alias(PLACE)
