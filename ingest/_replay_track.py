"""One recorded file on its way into an inbox."""

import os
import shutil
import zlib
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ingest import _disk
from ingest._replay_times import Times

#: Bytes in which the end of a line is looked for, and that are copied at a time. [B]
_PIECE: Final = 1 << 20


@dataclass(slots=True)
class Track:
    """A file, and how much of it has been released.

    Attributes:
        source: The recorded file.
        target: Where it appears.
        times: When it was written.
        cuts_lines: Whether it may end within a line, as a log on its way to disk does.
        place: Bytes released. [B]
        rotated: Times that it was rotated. [1]
        is_renamed: Whether its last line is still to end in the rotated file.
        begin: Where in the recorded file the one that grows begins. [B]
    """

    source: Path
    target: Path
    times: Times
    cuts_lines: bool = True
    place: int = 0
    rotated: int = 0
    is_renamed: bool = False
    begin: int = 0
    size: int = field(init=False)

    def __post_init__(self) -> None:
        """Take the size of the recorded file."""
        self.size = self.source.stat().st_size

    @property
    def is_done(self) -> bool:
        """Whether all of it has been released."""
        return self.place == self.size and (self.size > 0 or self.target.exists())

    def release(self, now_ns: int) -> int:
        """Release what was written by a time.

        Returns:
            Bytes released. [B]
        """
        if self.is_done:
            return 0
        before, due = self.place, self._due(now_ns)
        if not self.times.grows:
            if due is not None:
                self._appear()
        elif due is not None and due > self.place:
            self._grow(due)
        if self.place > before or self.is_done:
            self._stamp(now_ns)
        return self.place - before

    def _due(self, now_ns: int) -> int | None:
        """Return where the file ends at a time; None where it is not there yet. [B]"""
        marks = self.times.marks
        if not marks:
            return self.size
        reached = bisect_right(marks, now_ns, key=lambda mark: mark[1])
        if not reached:
            return None
        end = marks[reached - 1][0]
        return end if end == self.size else end + self._begun(end, now_ns)

    def _begun(self, end: int, now_ns: int) -> int:
        """Return how much of the next line is on disk, by chance and yet always so."""
        if not self.cuts_lines or not self.times.grows:
            return 0
        chance = zlib.crc32(os.fsencode(f"{self.target.name} {now_ns}")) % 100
        return (self._line_end(end) - end) * chance // 100

    def _line_end(self, place: int) -> int:
        with self.source.open("rb") as file:
            file.seek(place)
            return place + len(file.readline())

    def _appear(self) -> None:
        """Let the whole file appear at once."""
        self.target.parent.mkdir(parents=True, exist_ok=True)
        with _disk.replacing(self.target) as partial:
            shutil.copyfile(self.source, partial)
        self.place = self.size

    def _grow(self, due: int) -> None:
        self.target.parent.mkdir(parents=True, exist_ok=True)
        if self.is_renamed:
            # the writer ends its line, or its scrape, in the file that it has open
            end = min(due, self._ended(self.place))
            self._append(self._old(1), self.place, end)
            self.is_renamed = end == due
            if self.is_renamed:
                return
        if self.rotated and not self.target.exists():
            self.begin = self.place
            self.target.write_bytes(self.times.header)
        self._append(self.target, self.place, due)

    def _ended(self, place: int) -> int:
        """Return where the lines end that were written at one time about a place."""
        if place == 0:
            return 0
        marks = self.times.marks
        return marks[bisect_left(marks, place, key=lambda mark: mark[0])][0]

    def _append(self, target: Path, begin: int, end: int) -> None:
        self.place = begin
        with self.source.open("rb") as source, target.open("ab", buffering=0) as file:
            source.seek(begin)
            while self.place < end:
                piece = source.read(min(_PIECE, end - self.place))
                self.place += file.write(piece)

    def recover(self) -> None:
        """Find out how far a growing file is: its size is later than any note of it."""
        if not self.times.grows or not self.place:
            return
        if not self.target.exists() and not self.is_renamed:
            self.rotated, self.is_renamed = self.rotated + 1, True
        elif self.is_renamed:
            self.target.unlink(missing_ok=True)
        grown = self._old(1) if self.is_renamed else self.target
        has_header = self.rotated > self.is_renamed
        header = len(self.times.header) if has_header else 0
        self.place = self.begin + max(0, grown.stat().st_size - header)

    def rotate(self) -> bool:
        """Rename the file as a rotation of logs does; the next line starts another.

        Returns:
            Whether there was anything to rename.
        """
        if not self.times.grows or self.is_done or not self.target.exists():
            return False
        for number in range(self.rotated, 0, -1):
            self._old(number).rename(self._old(number + 1))
        self.target.rename(self._old(1))
        self.rotated += 1
        self.is_renamed = True
        return True

    def _old(self, number: int) -> Path:
        return self.target.with_name(f"{self.target.name}.{number}")

    def _stamp(self, now_ns: int) -> None:
        """Give the file the time it had; one that still grows, that of the moment."""
        status = self.source.stat()
        last = status.st_mtime_ns
        for path in (self.target, self._old(1)):
            if path.exists() and (path == self.target or self.rotated):
                os.utime(path, ns=(last, last if self.is_done else min(now_ns, last)))
