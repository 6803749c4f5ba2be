"""Copy a part of a recorded file, tell whether one was copied, and name what fails."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ingest._names import display
from ingest.errors import TelemetryError

if TYPE_CHECKING:
    from hashlib import _Hash

#: Bytes that are copied at a time. [B]
_PIECE: Final = 1 << 20


def append(
    source: Path, target: Path, begin: int, end: int, digest: "_Hash"
) -> Iterator[int]:
    """Add a part of a recorded file to another, and yield how far it is. [B]

    Args:
        source: The recorded file.
        target: The file that grows.
        begin: Where the part begins. [B]
        end: Where it ends. [B]
        digest: Told of each byte.

    Raises:
        TelemetryError: If the recorded file is shorter than it was.
    """
    with target.open("ab", buffering=0) as file:
        for piece in _pieces(source, begin, end):
            done = 0
            while done < len(piece):
                written = file.write(piece[done:])
                digest.update(piece[done : done + written])
                done += written
                begin += written
                yield begin


def digest_of(source: Path, end: int) -> "_Hash":
    """Return the hash of a file's beginning.

    Raises:
        TelemetryError: If it is shorter.
    """
    digest = hashlib.sha256()
    for piece in _pieces(source, 0, end):
        digest.update(piece)
    return digest


def continues(
    path: Path, offset: int, source: Path, place: int, start: bytes = b""
) -> bool:
    """Tell whether all of a file from somewhere on was copied from another.

    Args:
        path: The file.
        offset: From where on. [B]
        source: The file that it was copied from.
        place: From where on there. [B]
        start: What was written before it.
    """
    with path.open("rb") as file, source.open("rb") as other:
        file.seek(offset)
        other.seek(place)
        begun = file.read(len(start))
        if not start.startswith(begun):
            return False
        while piece := file.read(_PIECE):
            if piece != other.read(len(piece)):
                return False
    return True


def line_size(path: Path, place: int) -> int:
    """Return how long the line is that begins at a place. [B]"""
    with path.open("rb") as file:
        file.seek(place)
        return len(file.readline())


def line_start(path: Path, place: int) -> int:
    """Return where the line begins that a place is in; the place if it is its end."""
    with path.open("rb") as file:
        while place > 0:
            begin = max(0, place - _PIECE)
            file.seek(begin)
            found = file.read(place - begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            place = begin
    return 0


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name a file in an error of the system that names none, as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _pieces(path: Path, begin: int, end: int) -> Iterator[bytes]:
    with naming(path), path.open("rb") as file:
        file.seek(begin)
        while begin < end:
            piece = file.read(min(_PIECE, end - begin))
            if not piece:
                message = (
                    f"{display(path)}: expected {end:,} bytes, found {begin:,}: it was"
                    " cut off since it was looked at; replay into a new folder"
                )
                raise TelemetryError(message)
            begin += len(piece)
            yield piece
