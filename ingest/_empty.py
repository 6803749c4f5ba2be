"""Files that hold nothing yet: logs that were opened and not written to."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from ingest import files
from ingest.sources import Batch, Head, Reading, Source
from ingest.sources._source import HEAD_BYTES

#: Bytes that say nothing: white space, and the zeros of a log that has its size before
#: its content.
_BLANK: Final = b" \t\r\n\v\f\0"

_BOM: Final = b"\xef\xbb\xbf"

#: Bytes that are looked at together. [B]
_CHUNK: Final = 1 << 20


def is_empty(path: Path, head: Head) -> bool:
    """Tell whether a file holds nothing but blanks, in whatever envelope.

    Args:
        path: The file.
        head: Its head.

    Raises:
        OSError: If there is no such file, or none that may be read.
    """
    if head.data.removeprefix(_BOM).strip(_BLANK):
        return False
    with files.open_expanded(path) as file:
        seen = file.read(HEAD_BYTES)
        while len(seen) >= HEAD_BYTES and (chunk := file.read(_CHUNK)):
            if chunk.strip(_BLANK):
                return False
        file.peek(1)
        return file.fault is None


def read_nothing(_stream: BinaryIO, _reading: Reading) -> Iterator[Batch]:
    """Read a file of which no row is told."""
    return iter(())


#: What reads them. It is no format, and so not among the sources.
EMPTY: Final = Source(
    name="empty",
    version=1,
    describes="nothing, or blanks only",
    tables=(),
    options=frozenset(),
    recognizes=lambda _: False,
    read=read_nothing,
)
