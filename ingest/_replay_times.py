"""When each line of a recorded file was written, as the source's own reader tells.

A reader that says `line 7` of its rows tells of each line. Where it does not, lines are
given to it in blocks: if the blocks together give the rows of the whole, the format
grows by lines, and the times of a block's rows are those of its lines. All else appears
whole.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, Final, Self, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from ingest import files
from ingest._hashing import Hashed
from ingest._replay_lines import count_of, cuts_of, ends_of
from ingest._replay_told import PLACE, TIME, in_order, seen_of
from ingest.sources._source import HEAD_BYTES
from ingest.times import SECOND_NS

#: Blocks of a file that are asked for. [1]
_BLOCKS: Final = 200

#: Longest header that is written again when a log is rotated. [B]
_HEADER_BYTES: Final = 4_096

#: First bytes of what is no log, whatever its lines: XML, and JSON as one array.
_WHOLE: Final = (b"<", b"[")

_Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """When a file was written.

    Attributes:
        ends: Ends of some of its lines, ascending; one, its end, where it appears
            whole; none where nothing in it has a time. [B]
        times_ns: When it was written up to each of them, ascending. [ns]
        header: Lines before the first that has a time.
        grows: Whether it grows by lines.
    """

    ends: _Int64s = field(default_factory=lambda: np.empty(0, np.int64))
    times_ns: _Int64s = field(default_factory=lambda: np.empty(0, np.int64))
    header: bytes = b""
    grows: bool = False

    @classmethod
    def of_lines(cls, ends: _Int64s, times_ns: _Int64s, header: bytes) -> Self:
        """Keep of the ends of each second the last."""
        is_last = np.diff(times_ns // SECOND_NS, append=-1) != 0
        return cls(ends[is_last], times_ns[is_last], header, grows=True)

    def end_at(self, now_ns: int) -> int | None:
        """Return where the file ends at a time; None where it is not there yet. [B]"""
        reached = int(self.times_ns.searchsorted(now_ns, "right"))
        return int(self.ends[reached - 1]) if reached else None

    def ended(self, place: int) -> int:
        """Return where the lines end that were written at one time about a place."""
        return int(self.ends[self.ends.searchsorted(place)]) if place else 0


def times_of(hashed: Hashed) -> Times:
    """Ask a file's own reader when its lines were written."""
    path, size = hashed.opened.file.path, hashed.print_.size
    if hashed.opened.source is None:
        return Times()
    with files.open_expanded(path, size) as stream:
        seen = seen_of(hashed, cast("BinaryIO", stream))
    if not seen.last_ns:
        return Times()
    disk = path.stat().st_size
    whole = Times(np.array([disk], np.int64), np.array([seen.last_ns], np.int64))
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    is_plain = disk == size and head[:1] not in _WHOLE and b"\0" not in head
    if not is_plain:
        return whole
    if not seen.unplaced:
        return _by_line(path, disk, seen.by_line())
    return _by_block(hashed, disk, seen.rows) or whole


def _by_line(path: Path, size: int, lines: pl.DataFrame) -> Times:
    # lines without a time come with the one before: a scrape is named by its first
    before = ends_of(path, lines[PLACE].to_numpy() - 1)
    # a line that is told of behind the end is none
    before = before[before < size]
    if not len(before):
        return Times()
    times = lines[TIME].to_numpy()[: len(before)]
    ends = np.append(before[1:], size)
    return Times.of_lines(ends, times, _start(path, int(before[0])))


def _start(path: Path, size: int) -> bytes:
    if size > _HEADER_BYTES:
        return b""
    with path.open("rb") as file:
        start = file.read(size)
    return b"" if start.startswith(b"{") else start


def _by_block(hashed: Hashed, size: int, rows: int) -> Times | None:
    """Return the times of blocks of lines; None where no block can be read alone."""
    path = hashed.opened.file.path
    header = _start(path, int(ends_of(path, np.array([1]))[0]))
    least = size // _BLOCKS if count_of(path) > _BLOCKS else 1
    for start in dict.fromkeys((b"", header)):
        marks: list[tuple[int, int]] = []
        count = last = 0
        for end, block in _blocks(path, len(start), least):
            found = seen_of(hashed, io.BufferedReader(io.BytesIO(start + block)))
            count += found.rows
            last = found.last_ns or last
            marks.append((end, last))
        if last and count == rows:
            ends, times = np.array([one for one in marks if one[1]], np.int64).T
            return Times.of_lines(ends, in_order(times), start)
    return None


def _blocks(path: Path, start: int, least: int) -> Iterator[tuple[int, bytes]]:
    """Yield the end of each block of whole lines, and the block."""
    with path.open("rb") as file:
        file.seek(start)
        for begin, end in pairwise((start, *cuts_of(path, start, least))):
            yield end, file.read(end - begin)
