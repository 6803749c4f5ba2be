"""When each line of a recorded file was written, as the source's own reader tells.

A reader that says `line 7` of its rows tells of each line. Where it does not, lines are
given to it in blocks: if the blocks together give the rows of the whole, the format
grows by lines, and the times of a block's rows are those of its lines. All else appears
whole.
"""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, Final, cast

import polars as pl

from ingest import files
from ingest._hashing import Hashed
from ingest._reading import FAULTS
from ingest.errors import UnreadableFileError
from ingest.planning import reading_of
from ingest.sources import Batch
from ingest.sources._source import HEAD_BYTES
from ingest.tables import IngestedFiles, Table
from ingest.times import DAY_NS

#: Times before 2000 count from a moment of their own: they tell nothing here. [ns]
_FIRST_NS: Final = 10_957 * DAY_NS

#: Blocks of a file that are asked for. [1]
_BLOCKS: Final = 200

#: Longest header that is written again when a log is rotated. [B]
_HEADER_BYTES: Final = 4_096

#: First bytes of what is no log, whatever its lines: XML, and JSON as one array.
_WHOLE: Final = (b"<", b"[")

_LINE: Final = r"^line (\d+)"
_TIME: Final = "_time"
_PLACE: Final = "_line"

#: End of some lines, and when they were written; both ascend. [B] [ns]
Mark = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Times:
    """When a file was written.

    Attributes:
        marks: Ends of its lines; one, its end, where it appears whole; none where
            nothing in it has a time.
        header: Lines before the first that has a time.
        grows: Whether it grows by lines.
    """

    marks: tuple[Mark, ...] = ()
    header: bytes = b""
    grows: bool = False


def times_of(hashed: Hashed) -> Times:
    """Ask a file's own reader when its lines were written."""
    path, size = hashed.opened.file.path, hashed.print_.size
    if hashed.opened.source is None:
        return Times()
    with files.open_expanded(path, size) as stream:
        rows = _rows(hashed, cast("BinaryIO", stream))
    if not (last := cast("int | None", rows[_TIME].max())):
        return Times()
    disk = path.stat().st_size
    whole = Times(((disk, last),))
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    is_plain = disk == size and head[:1] not in _WHOLE and b"\0" not in head
    if not is_plain:
        return whole
    ends = _line_ends(path)
    if rows[_PLACE].null_count() == 0:
        return _by_line(path, ends, rows)
    return _by_block(hashed, ends, rows) or whole


def _rows(hashed: Hashed, stream: BinaryIO) -> pl.DataFrame:
    """Return the time and the line of every row, as far as they are told."""
    empty = pl.DataFrame(schema={_TIME: pl.Int64, _PLACE: pl.Int64})
    return pl.concat([empty, *_told(_batches(hashed, stream))])


def _batches(hashed: Hashed, stream: BinaryIO) -> Iterator[Batch]:
    source = hashed.opened.source
    try:
        if source:
            yield from source.read(stream, reading_of(hashed))
    except (UnreadableFileError, *FAULTS):
        return


def _told(batches: Iterable[Batch]) -> Iterator[pl.DataFrame]:
    for batch in batches:
        for table, rows in batch.rows.items():
            if table is not IngestedFiles:
                yield rows.select(_written(table, rows.columns), _line(rows.columns))


def _written(table: type[Table], columns: list[str]) -> pl.Expr:
    """When a row was written: at the end of what it tells of."""
    start = table.day_column
    if start is None or start not in columns:
        return pl.lit(None, pl.Int64).alias(_TIME)
    ends = [pl.col(start)]
    if start == "start_ns" and "duration_ns" in columns:
        ends.append(pl.col(start) + pl.col("duration_ns"))
    if "end_ns" in columns:
        ends.append(pl.col("end_ns"))
    end = pl.max_horizontal(one.cast(pl.Int64) for one in ends)
    return pl.when(pl.col(start) >= _FIRST_NS).then(end).alias(_TIME)


def _line(columns: list[str]) -> pl.Expr:
    if "place" not in columns:
        return pl.lit(None, pl.Int64).alias(_PLACE)
    return pl.col("place").str.extract(_LINE).cast(pl.Int64).alias(_PLACE)


def _line_ends(path: Path) -> pl.Series:
    """Return where each line of a file ends, behind its line feed. [B]"""
    ends, place = [], 0
    with path.open("rb") as file:
        for line in file:
            place += len(line)
            ends.append(place)
    return pl.Series(ends, dtype=pl.Int64)


def _by_line(path: Path, ends: pl.Series, rows: pl.DataFrame) -> Times:
    timed = rows.drop_nulls().filter(pl.col(_PLACE).is_between(1, len(ends)))
    lines = timed.group_by(_PLACE).agg(pl.col(_TIME).max()).sort(_PLACE)
    if lines.is_empty():
        return Times()
    first = int(lines[_PLACE][0])
    # lines without a time come with the one before: a scrape is named by its first
    marked = [*(int(ends[int(n) - 2]) for n in lines[_PLACE][1:]), int(ends[-1])]
    times = lines[_TIME].cum_max().to_list()
    header = _start(path, ends[first - 2] if first > 1 else 0)
    return Times(_thinned(zip(marked, times, strict=True)), header, grows=True)


def _start(path: Path, size: int) -> bytes:
    if size > _HEADER_BYTES:
        return b""
    with path.open("rb") as file:
        start = file.read(size)
    return b"" if start.startswith(b"{") else start


def _by_block(hashed: Hashed, ends: pl.Series, rows: pl.DataFrame) -> Times | None:
    """Return the times of blocks of lines; None where no block can be read alone."""
    path = hashed.opened.file.path
    header = _start(path, int(ends[0]))
    for start in dict.fromkeys((b"", header)):
        marks: list[Mark] = []
        count = last = 0
        for end, block in _blocks(path, ends, len(start)):
            found = _rows(hashed, io.BufferedReader(io.BytesIO(start + block)))
            count += found.height
            last = max(last, cast("int | None", found[_TIME].max()) or 0)
            marks.append((end, last))
        if count == rows.height:
            return Times(_thinned(m for m in marks if m[1]), start, grows=True)
    return None


def _blocks(path: Path, ends: pl.Series, start: int) -> Iterator[tuple[int, bytes]]:
    """Yield the end of each block of whole lines, and the block."""
    least = int(ends[-1]) // _BLOCKS if len(ends) > _BLOCKS else 1
    cuts = [start]
    for end in ends:
        if end - cuts[-1] >= least:
            cuts.append(end)
    if cuts[-1] != ends[-1]:
        cuts.append(int(ends[-1]))
    with path.open("rb") as file:
        file.seek(start)
        for begin, end in pairwise(cuts):
            yield end, file.read(end - begin)


def _thinned(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """Return the last of the marks of each second."""
    by_second = {time // 10**9: (end, time) for end, time in marks}
    return tuple(by_second.values())
