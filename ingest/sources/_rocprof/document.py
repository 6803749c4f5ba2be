"""Lists of records in a file of rocprofv3, found without decoding what is around them.

One document holds all, and may be larger than memory or cut short. Its lists are found
by their keys, which cannot stand inside a text: its quotes would be escaped.
"""

import io
import mmap
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ingest.sources._kineto.blocks import Blocks
from ingest.sources._kineto.losses import Losses
from ingest.sources._kineto.window import Window
from ingest.sources._utf8 import Pieces

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: Start of a process, and lists that matter.
_PART: Final = re.compile(
    rb'"(metadata)"\s*:\s*\{'
    rb'|"(agents|kernel_symbols|kernel_dispatch|memory_copy|hip_api)"\s*:\s*\['
)

#: Bytes that the end of a whole document is among, white space between them. [B]
_END_BYTES: Final = 4_096

#: End of a whole document: of a process, of the list of them, and of all.
_WHOLE: Final = re.compile(rb"\}\s*\]\s*\}\s*\Z")

#: What may stand behind it, in a file whose space was allocated before.
_NOTHING: Final = b"\0 \t\r\n"

#: Bytes looked at at a time. [B]
_CHUNK_BYTES: Final = 1 << 20


@contextmanager
def mapped(path: Path) -> Iterator[mmap.mmap | bytes]:
    """Give the content of a file without reading it."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            yield b""
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            yield content


def parts(content: mmap.mmap | bytes) -> Iterator[tuple[str, int]]:
    """Yield the key of each part, in the order of the file, and where it opens."""
    for match in _PART.finditer(content):
        yield (match[1] or match[2]).decode(), match.end()


class Part:
    """The records of the list that opens before a place.

    Attributes:
        place: The place.
        blocks: The records.
    """

    def __init__(
        self, content: mmap.mmap | bytes, place: int, end: int, losses: Losses
    ) -> None:
        """Begin before the first record of a document that ends at a place."""
        self._window = Window(io.BufferedReader(_Behind(content, place, end)))
        self.place = place
        self.blocks = Blocks(self._window, losses, in_object=True)

    @property
    def end(self) -> int:
        """Place behind the records that were read."""
        return self.place + self._window.offset(self._window.start)


def end_of(content: mmap.mmap | bytes) -> int:
    """Return where a document ends, before NUL bytes and white space. [B]"""
    end = len(content)
    while end:
        low = max(end - _CHUNK_BYTES, 0)
        if kept := content[low:end].rstrip(_NOTHING):
            return low + len(kept)
        end = low
    return 0


def is_whole(content: mmap.mmap | bytes, end: int) -> bool:
    """Return whether a document that ends at a place ends as it should."""
    return bool(_WHOLE.search(content[max(end - _END_BYTES, 0) : end]))


def is_text(content: mmap.mmap | bytes, low: int, high: int) -> bool:
    """Return whether what stands between two places, around lists, is UTF-8."""
    pieces = Pieces()
    for start in range(low, high, _CHUNK_BYTES):
        pieces.add(content[start : min(start + _CHUNK_BYTES, high)])
    return not pieces.broken()


class _Behind(io.RawIOBase):
    """The bytes of a content from some place on, up to another."""

    def __init__(self, content: mmap.mmap | bytes, place: int, end: int) -> None:
        super().__init__()
        self._content = content
        self._place = place
        self._end = end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        target = memoryview(buffer).cast("B")
        stop = min(self._place + len(target), self._end)
        data = self._content[self._place : stop]
        target[: len(data)] = data
        self._place += len(data)
        return len(data)
