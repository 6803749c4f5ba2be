"""Headers of a tar archive: who comes next, how large it is, and when it was made."""

import tarfile
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

#: Size of a block, of which everything in a tar archive is a multiple. [B]
BLOCK: Final = tarfile.BLOCKSIZE

#: Longest extended header: names and attributes of one member take a few kilobytes,
#: and one that takes more was made to fill memory. [B]
MOST_EXTENDED: Final = 1 << 20

#: Digits of the length of a record of an extended header.
_LENGTH_DIGITS: Final = 8

#: Where a header of GNU's old sparse files says that more of it follows.
SPARSE_GOES_ON: Final = 482

#: Where such a header's continuation says it.
SPARSE_GOES_FURTHER: Final = 504

#: Beginning of the names of attributes of sparse files.
_SPARSE: Final = b"GNU.sparse."

_SECOND_NS: Final = 1_000_000_000

#: Seconds that fit 64 bits of nanoseconds.
_MOST_SECONDS: Final = 2**63 // _SECOND_NS


class DamagedHeaderError(Exception):
    """A header is none."""


@dataclass(frozen=True, slots=True)
class Extended:
    """What extended headers say of the member that follows them.

    Attributes:
        name: Its name.
        size: Its size. [B]
        modified_ns: When it was last written. [ns]
        is_sparse: Whether only parts of it are there.
    """

    name: str | None = None
    size: int | None = None
    modified_ns: int | None = None
    is_sparse: bool = False


def is_header(block: bytes) -> bool:
    """Tell whether a block is the header of a member: it has the right sum."""
    try:
        return bool(header(block).name)
    except DamagedHeaderError:
        return False


def header(block: bytes) -> tarfile.TarInfo:
    """Read a header.

    Raises:
        DamagedHeaderError: If it is none.
    """
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError) as error:
        raise DamagedHeaderError from error
    if info.size < 0:
        raise DamagedHeaderError
    return info


def seconds_ns(text: str | float) -> int | None:
    """Return seconds since the epoch as nanoseconds, exactly; None where they are none.

    Args:
        text: The seconds, in decimals.
    """
    try:
        seconds = Decimal(text)
    except (InvalidOperation, ValueError):
        return None
    if not seconds.is_finite() or abs(seconds) >= _MOST_SECONDS:
        return None
    return int(seconds.scaleb(9))


def extended(data: bytes) -> Extended:
    """Read an extended header as POSIX has it.

    Raises:
        DamagedHeaderError: If it is none.
    """
    values = _records(data)
    size = values.get(b"size")
    if size is not None and not (size.isdigit() and len(size) <= 2 * _LENGTH_DIGITS):
        raise DamagedHeaderError
    name = values.get(b"path")
    return Extended(
        name=name.decode("utf-8", "surrogateescape") if name is not None else None,
        size=int(size) if size is not None else None,
        modified_ns=seconds_ns(values.get(b"mtime", b"").decode("ascii", "replace")),
        is_sparse=any(key.startswith(_SPARSE) for key in values),
    )


def _records(data: bytes) -> dict[bytes, bytes]:
    values: dict[bytes, bytes] = {}
    start = 0
    while start < len(data) and data[start]:
        space = data.find(b" ", start, start + _LENGTH_DIGITS)
        length = data[start:space] if space > start else b""
        end = start + int(length) if length.isdigit() else 0
        if not start < space < end <= len(data):
            raise DamagedHeaderError
        key, equals, value = data[space + 1 : end - 1].partition(b"=")
        if not equals:
            raise DamagedHeaderError
        values[key] = value
        start = end
    return values
