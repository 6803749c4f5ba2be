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

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: Start of a process, and lists that matter.
_PART: Final = re.compile(
    rb'"(metadata)"\s*:\s*\{'
    rb'|"(agents|kernel_symbols|kernel_dispatch|memory_copy|hip_api)"\s*:\s*\['
)

#: Bytes that the end of a whole document is among. [B]
_END_BYTES: Final = 256


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


def blocks_at(content: mmap.mmap | bytes, place: int, losses: Losses) -> Blocks:
    """Return the records of the list that opens before a place."""
    window = Window(io.BufferedReader(_Behind(content, place)))
    return Blocks(window, losses, in_object=True)


def is_whole(content: mmap.mmap | bytes) -> bool:
    """Return whether a document ends where it should."""
    return content[-_END_BYTES:].rstrip(b" \t\r\n\0").endswith(b"}")


class _Behind(io.RawIOBase):
    """The bytes of a content from some place on."""

    def __init__(self, content: mmap.mmap | bytes, place: int) -> None:
        super().__init__()
        self._content = content
        self._place = place

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        target = memoryview(buffer).cast("B")
        data = self._content[self._place : self._place + len(target)]
        target[: len(data)] = data
        self._place += len(data)
        return len(data)
