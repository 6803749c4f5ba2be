"""Raw files: their expanded content, what it is, and its identity."""

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from ingest._expanded import ExpandedFile
from ingest.sources import Head, Source
from ingest.sources._source import HEAD_BYTES, TAIL_BYTES

#: Bytes that are hashed at a time. [B]
_CHUNK: Final = 1 << 20

#: What a Parquet file starts with.
_PARQUET_MAGIC: Final = b"PAR1"

#: Hexadecimal digits of a file_id: 128 bits, so that no two files ever share one.
_ID_DIGITS: Final = 32


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The identity of a file's expanded content.

    Attributes:
        sha256: SHA-256 of the content.
        size: Size of the content. [B]
        prefixes: SHA-256 of what the file was at each smaller size that was asked
            for, the smallest first. A known file among them has grown into this one.
    """

    sha256: str
    size: int
    prefixes: tuple[str, ...]


def status_of(path: Path) -> os.stat_result:
    """Return what the system tells of a file, which must be one that can be opened.

    Raises:
        OSError: If it is gone, or no regular file: a pipe would wait for its writer.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        if not path.is_symlink():
            raise
        raise OSError(errno.ENOENT, "a link that leads to no file") from None
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    return status


def open_expanded(path: Path, size: int | None = None) -> ExpandedFile:
    """Open a file for reading, expanded where its first bytes say that it is packed.

    The stream just ends where an envelope is cut off or damaged; its `fault` then
    says so.

    Args:
        path: The file.
        size: Size of the content when it was hashed; what a file has grown by since
            then is not read. [B]

    Raises:
        OSError: If there is no such file, or none that may be read.
    """
    return ExpandedFile(path, size)


def fingerprint(path: Path, known_sizes: Iterable[int] = ()) -> Fingerprint:
    """Hash the expanded content of a file, and of its beginnings, in one pass.

    Args:
        path: The file.
        known_sizes: Sizes of known files, of which this one may be a longer copy. [B]

    Raises:
        OSError: If there is no such file, or none that may be read.
    """
    marks = sorted({size for size in known_sizes if size > 0}, reverse=True)
    digest = hashlib.sha256()
    prefixes: list[tuple[int, str]] = []
    size = 0
    with open_expanded(path) as file:
        while chunk := file.read(_CHUNK):
            done = 0
            while marks and marks[-1] <= size + len(chunk):
                mark = marks.pop()
                digest.update(chunk[done : mark - size])
                done = mark - size
                prefixes.append((mark, digest.hexdigest()))
            digest.update(chunk[done:])
            size += len(chunk)
    earlier = tuple(sha256 for mark, sha256 in prefixes if mark < size)
    return Fingerprint(digest.hexdigest(), size, earlier)


def file_id(
    sha256: str,
    source_name: str,
    reader_version: int,
    options: Mapping[str, str | None],
) -> str:
    """Return the identity of a reading: equal when it must give the same rows.

    Args:
        sha256: Hash of the expanded content.
        source_name: Source that reads it.
        reader_version: Version of that source.
        options: Options that change the rows, by name.
    """
    said = [sha256, source_name, reader_version, sorted(options.items())]
    text = json.dumps(said, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_ID_DIGITS]


def head_of(path: Path, name: str | None = None) -> Head:
    """Return the start of a file's expanded content.

    Args:
        path: The file.
        name: Its name, where it is on disk under another.

    Raises:
        OSError: If there is no such file, or none that may be read.
    """
    with open_expanded(path) as file:
        data = file.read(HEAD_BYTES)
        bare = file.bare(name or path.name)
        columns = _columns_of(path, data) if file.is_plain else ()
        is_long = file.is_plain and len(data) == HEAD_BYTES
    return Head(bare, data, columns, _tail_of(path) if is_long else b"")


def _tail_of(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(HEAD_BYTES, path.stat().st_size - TAIL_BYTES))
        return file.read(TAIL_BYTES)


def _columns_of(path: Path, data: bytes) -> tuple[str, ...]:
    """Return the columns of a Parquet file; none where it is another, or damaged."""
    if not data.startswith(_PARQUET_MAGIC):
        return ()
    try:
        return tuple(pq.read_schema(path).names)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return ()


def recognize(head: Head, sources: Sequence[Source]) -> Source | None:
    """Return the first source that claims a file."""
    return next((source for source in sources if source.recognizes(head)), None)
