"""One recorded file on its way into an inbox."""

import hashlib
import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ingest import _disk
from ingest._names import display, unrotated
from ingest._replay_copy import append, digest_of, line_size, line_start, naming
from ingest._replay_times import Times
from ingest.errors import TelemetryError

if TYPE_CHECKING:
    from hashlib import _Hash


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
        ahead: Bytes of a header that the one that grows has before that. [B]
        is_gone: Whether what was released is no longer in the inbox as it was.
        digest: Hash of what was released.
    """

    source: Path
    target: Path
    times: Times
    cuts_lines: bool = True
    place: int = 0
    rotated: int = 0
    is_renamed: bool = False
    begin: int = 0
    ahead: int = 0
    is_gone: bool = False
    size: int = field(init=False)
    digest: "_Hash" = field(default_factory=hashlib.sha256)

    def __post_init__(self) -> None:
        """Take the size of the recorded file."""
        self.size = self.source.stat().st_size

    @property
    def is_done(self) -> bool:
        """Whether all of it has been released."""
        return self.place == self.size and (self.size > 0 or self.target.exists())

    @property
    def growing(self) -> Path:
        """The file that its next bytes come to: after a rotation the renamed one."""
        return self.old(1) if self.is_renamed else self.target

    @property
    def expected(self) -> int:
        """Size that this file should have. [B]"""
        return self.ahead + self.place - self.begin

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
            before = self._grow(due)
        if self.place > before or self.is_done:
            self._stamp(now_ns)
        return self.place - before

    def _due(self, now_ns: int) -> int | None:
        """Return where the file ends at a time; None where it is not there yet. [B]"""
        if not len(self.times.ends):
            return self.size
        end = self.times.end_at(now_ns)
        is_cut = self.cuts_lines and self.times.grows
        if end is None or end == self.size or not is_cut:
            return end
        # how much of the next line is on disk, by chance and yet always so
        chance = zlib.crc32(os.fsencode(f"{self.target.name} {now_ns}")) % 100
        return end + line_size(self.source, end) * chance // 100

    def _appear(self) -> None:
        """Let the whole file appear at once."""
        self.target.parent.mkdir(parents=True, exist_ok=True)
        self.digest = hashlib.sha256()
        with _disk.replacing(self.target) as partial, naming(self.target):
            for _ in append(self.source, partial, 0, self.size, self.digest):
                pass
        self.place, self.begin, self.ahead = self.size, 0, 0

    def _grow(self, due: int) -> int:
        """Release all up to a place, and return from where on. [B]"""
        self.target.parent.mkdir(parents=True, exist_ok=True)
        self.refuse_changed()
        before = self.place
        if self.is_renamed:
            # the writer ends its line, or its scrape, in the file that it has open
            end = min(due, self.times.ended(self.place))
            self._append(self.old(1), end)
            self.is_renamed = end == due
            if self.is_renamed:
                return before
        if self.place and not self.target.exists():
            self.begin, self.ahead = self.place, len(self.times.header)
            with naming(self.target):
                self.target.write_bytes(self.times.header)
        self._append(self.target, due)
        return before

    def _append(self, target: Path, end: int) -> None:
        with naming(target):
            for place in append(self.source, target, self.place, end, self.digest):
                self.place = place

    def refuse_changed(self) -> None:
        """See to a file that is gone: its rest comes in a new one, by whole lines.

        Raises:
            TelemetryError: If the file is there, and not as it was left.
        """
        path, expected = self.growing, self.expected
        if not self.place:
            return
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            self._open_another()
            return
        if size != expected:
            message = (
                f"{display(path)}: expected {expected:,} bytes as they were released,"
                f" found {size:,}; remove it, and what is to come is released in a new"
                " file, or replay into a new folder"
            )
            raise TelemetryError(message)

    def _open_another(self) -> None:
        self.is_gone, self.is_renamed = True, False
        start = line_start(self.source, self.place)
        # a header by itself is a part of the file
        self.place = start if start > len(self.times.header) else 0
        self.begin, self.ahead = self.place, 0
        self.digest = digest_of(self.source, self.place)

    @property
    def is_unrotated(self) -> bool:
        """Whether its name is that of a log before any rotation."""
        return unrotated(self.target.name) == self.target.name

    def rotate(self) -> bool:
        """Rename the file as a rotation of logs does; the next line starts another.

        Returns:
            Whether there was anything to rename.
        """
        if not self.times.grows or self.is_done or not self.target.exists():
            return False
        free = 1
        while self.old(free).exists():
            free += 1
        for number in range(free, 0, -1):
            self.old(number - 1).rename(self.old(number))
        self.rotated += 1
        self.is_renamed = True
        return True

    def old(self, number: int) -> Path:
        """Return what the file is called after some rotations."""
        end = f".{number}" if number else ""
        return self.target.with_name(f"{self.target.name}{end}")

    def _stamp(self, now_ns: int) -> None:
        """Give the file the time it had; one that still grows, that of the moment."""
        status = self.source.stat()
        last = status.st_mtime_ns
        for path in (self.target, self.old(1)):
            if path.exists() and (path == self.target or self.rotated):
                os.utime(path, ns=(last, last if self.is_done else min(now_ns, last)))
