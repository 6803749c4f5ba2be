"""Lines of raw files, found again: what a log says to the letter, and where."""

import hashlib
import io
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ingest.files import open_expanded
from ingest.sources._kernel import patterns

#: Lines that are quoted of one file: more are for a machine to read.
MOST_LINES: Final = 200

#: Lines before an event that may say which GPU it is: the driver writes them at once.
_LINES_BEFORE: Final = 3

#: Characters that are quoted of a line.
MOST_CHARACTERS: Final = 2_000

#: Why lines are not quoted of which it is not sure that they are the ones.
ALIKE: Final = "lines alike could not be told apart"

#: What stands between an archive and its member in the path of a file.
_MEMBER: Final = "!/"

#: Lines after an event within which the driver goes on about it.
_LINES_AFTER: Final = 3

_GOES_ON: Final = re.compile(f"{patterns.OFF_BUS}|{patterns.OFF_BUS_TAIL}")
_NAMED: Final = f"{patterns.UUID}|{patterns.SERIAL}|{patterns.SERIAL_AT}"
_IDENTITY: Final = re.compile(_NAMED)
_SERIALS: Final = (
    re.compile(rf"{patterns.SERIAL}()"),
    re.compile(patterns.SERIAL_AT),
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A message that is looked for.

    Attributes:
        message: The message, as the lake has it.
        positions: Which of the rows of its file with this message are meant, from
            zero, in the order of the file.
        total: Rows of its file with this message.
        is_root: Whether it is about the GPU that the incident began with.
    """

    message: str
    positions: frozenset[int]
    total: int
    is_root: bool = False

    @property
    def needle(self) -> bytes:
        """What a line must hold."""
        return self.message.partition("\n")[0].rstrip().encode()


@dataclass(frozen=True, slots=True)
class Line:
    """A line, numbered from one; of a row of a table the message made from it, too."""

    number: int
    text: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Quotes:
    """What was found again in a file.

    Attributes:
        lines: Lines in their order, those that name the GPU of an event before it, and
            those after it that go on about it.
        fault: Why none are quoted; empty where the file is as it was read.
        serial: Serial number of the board that the lines before an event tell.
    """

    lines: tuple[Line, ...] = ()
    fault: str = ""
    serial: str = ""


@dataclass(frozen=True, slots=True)
class _Hit:
    """A line that holds a message, and those around it that belong to it."""

    position: int
    line: Line
    around: list[Line]


class _Search:
    """A file while it is read: which lines hold which message."""

    def __init__(self, wanted: Sequence[Wanted]) -> None:
        """Start before the first line."""
        self._wanted = {one.needle: one for one in wanted if one.needle}
        self._seen: Counter[bytes] = Counter()
        self._hits: dict[bytes, list[_Hit]] = {needle: [] for needle in self._wanted}
        self._last: _Hit | None = None

    def take(self, line: int, raw: bytes, before: Sequence[tuple[int, bytes]]) -> None:
        """Keep a line that holds a message, or goes on about the one before."""
        found = [needle for needle in self._wanted if needle in raw]
        for needle in found:
            hits, position = self._hits[needle], self._seen[needle]
            self._seen[needle] += 1
            if len(hits) < MOST_LINES:
                hit = _Hit(position, Line(line, _text(raw)), list(_naming(before)))
                hits.append(hit)
                self._last = hit
        last = self._last
        if last is None or found or line - last.line.number > _LINES_AFTER:
            return
        if _GOES_ON.search(text := _text(raw)):
            last.around.append(Line(line, text))

    def answer(self) -> Quotes:
        """Return the lines that are meant, where it is sure which they are."""
        hits = [(one, hit) for one in self._wanted.values() for hit in self._meant(one)]
        lines = {
            line.number: line for _, hit in hits for line in (hit.line, *hit.around)
        }
        ours = [line for one, hit in hits if one.is_root for line in hit.around]
        serials = {found for line in ours if (found := _serial(line.text))}
        is_lost = not lines and any(self._seen.values())
        return Quotes(
            tuple(lines[number] for number in sorted(lines)[:MOST_LINES]),
            fault=ALIKE if is_lost else "",
            serial=serials.pop() if len(serials) == 1 else "",
        )

    def _meant(self, wanted: Wanted) -> list[_Hit]:
        hits = self._hits[wanted.needle]
        if len(wanted.positions) == wanted.total:
            return hits
        if self._seen[wanted.needle] != wanted.total:
            return []
        return [hit for hit in hits if hit.position in wanted.positions]


def quote(path: str, sha256: str, size: int, wanted: Sequence[Wanted]) -> Quotes:
    """Return the lines of a file that hold messages, if it is as it was read.

    Args:
        path: Where the file was read from.
        sha256: SHA-256 that its expanded content had.
        size: Size that its expanded content had; what it has grown by is left out. [B]
        wanted: Messages that are looked for.
    """
    if _MEMBER in path:
        return Quotes(fault="it is inside an archive")
    search = _Search(wanted)
    try:
        with open_expanded(Path(path), size) as file:
            found = _read(file, search)
    except OSError:
        return Quotes(fault="it is no longer where it was read from")
    if found != sha256:
        return Quotes(fault="it has changed since it was read")
    return search.answer()


def _read(file: io.BufferedReader, search: _Search) -> str:
    """Read a file to its end, and return its hash."""
    digest = hashlib.sha256()
    before: deque[tuple[int, bytes]] = deque(maxlen=_LINES_BEFORE)
    for number, raw in enumerate(file, 1):
        digest.update(raw)
        search.take(number, raw, before)
        before.append((number, raw))
    return digest.hexdigest()


def _naming(before: Sequence[tuple[int, bytes]]) -> Iterator[Line]:
    """Yield the lines just before a line that name a GPU: nothing stands between."""
    for number, raw in reversed(before):
        line = Line(number, _text(raw))
        if not _IDENTITY.search(line.text):
            return
        yield line


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace").rstrip("\r\n")[:MOST_CHARACTERS]


def _serial(text: str) -> str:
    found = [match for pattern in _SERIALS if (match := pattern.search(text))]
    return next((match[2] or match[1] for match in found), "")
