"""The members of a zip archive, by the directory at its end."""

import io
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Final

from ingest._archive_entry import BrokenMemberError, Entry, Member, Unread
from ingest._envelope_layer import CHUNK, Fault

#: Largest directory, which is read whole: 100,000 members of 300 characters. [B]
_MOST_DIRECTORY: Final = 32 * 1024 * 1024

#: Ways to pack that are read. LZMA is not: a member may ask for 4 GiB of memory.
_METHODS: Final = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2}

#: Bit of a member that is encrypted.
_ENCRYPTED: Final = 0x1

#: Where Unix keeps the mode of a file among the attributes of a member.
_MODE_SHIFT: Final = 16

#: Extra field with the time of the last write since the epoch, and the bit that says
#: that it is there.
_TIMES: Final = 0x5455
_HAS_MODIFIED: Final = 0x1

_SECOND_NS: Final = 1_000_000_000

#: What a damaged archive makes zipfile raise.
_DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    OSError,
)


def members(path: Path, zone: tzinfo) -> Iterator[Entry]:
    """Yield the regular files of an archive, and what cannot be read of it.

    Args:
        path: The archive.
        zone: Zone of its times, which are naive unless Unix made them.

    Raises:
        OSError: If there is no such file, or none that may be read.
    """
    with _Guarded(path) as file:
        try:
            archive = zipfile.ZipFile(file)
        except _DAMAGE as error:
            expected = "the whole directory of a zip archive"
            fault = Fault("damaged", "its end", expected)
            yield Unread("", f"{fault.text} ({_one_line(error)})")
            return
        with archive:
            for info in archive.infolist():
                if _is_file(info):
                    yield _entry(archive, info, zone)


class _Guarded(io.BufferedReader):
    """A file of which nothing large is read at once, whatever it says of itself."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path))

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = _MOST_DIRECTORY + 1 if size is None or size < 0 else size
        data = super().read(min(wanted, _MOST_DIRECTORY + 1))
        if len(data) > _MOST_DIRECTORY:
            message = f"its directory has more than {_MOST_DIRECTORY} bytes"
            raise zipfile.BadZipFile(message)
        return data


def _is_file(info: zipfile.ZipInfo) -> bool:
    kind = stat.S_IFMT(info.external_attr >> _MODE_SHIFT)
    return not info.is_dir() and kind in {0, stat.S_IFREG}


def _entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, zone: tzinfo) -> Entry:
    # some tools write the separators of their own system
    name = info.filename.replace("\\", "/")
    if info.flag_bits & _ENCRYPTED:
        return Unread(name, "encrypted; decrypt it before")
    if info.compress_type not in _METHODS:
        reason = f"packed by method {info.compress_type} of zip; pack it by deflate"
        return Unread(name, reason)
    return Member(name, info.file_size, _modified(info, zone), _content(archive, info))


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    done = 0
    try:
        with archive.open(info) as file:
            while chunk := file.read(CHUNK):
                done += len(chunk)
                yield chunk
    except _DAMAGE as error:
        expected = f"an intact member of a zip archive ({_one_line(error)})"
        fault = Fault("damaged", f"byte {done}", expected)
        raise BrokenMemberError(fault) from error


def _modified(info: zipfile.ZipInfo, zone: tzinfo) -> int | None:
    seconds = _unix_seconds(info.extra)
    if seconds is None:
        try:
            local = datetime(*info.date_time, tzinfo=zone)
            seconds = int(local.astimezone(UTC).timestamp())
        except (ValueError, OverflowError):
            return None
    return seconds * _SECOND_NS


def _unix_seconds(extra: bytes) -> int | None:
    start = 0
    while start + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, start)
        data = extra[start + 4 : start + 4 + size]
        if kind == _TIMES and len(data) >= 5 and data[0] & _HAS_MODIFIED:  # noqa: PLR2004
            (seconds,) = struct.unpack_from("<i", data, 1)
            return int(seconds)
        start += 4 + size
    return None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
