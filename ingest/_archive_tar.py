"""The members of a tar archive, read from its beginning to its end.

Links, devices and folders are passed over: what a link leads to is either in the
archive too, or nothing that it could give. Memory is that of one block and one extended
header, whatever the archive says.
"""

import tarfile
from collections.abc import Iterator
from typing import Final

from ingest._archive_entry import BrokenMemberError, Entry, Member, Unread
from ingest._archive_tar_header import (
    BLOCK,
    MOST_EXTENDED,
    SPARSE_GOES_FURTHER,
    SPARSE_GOES_ON,
    DamagedHeaderError,
    Extended,
    extended,
    header,
    seconds_ns,
)
from ingest._envelope_layer import Fault
from ingest._expanded import ExpandedFile

#: Bytes of a member that are read at a time. [B]
_CHUNK: Final = 1 << 20

#: Kinds of members that have no content.
_WITHOUT_CONTENT: Final = frozenset(
    {
        tarfile.LNKTYPE,
        tarfile.SYMTYPE,
        tarfile.DIRTYPE,
        tarfile.CHRTYPE,
        tarfile.BLKTYPE,
        tarfile.FIFOTYPE,
    }
)

#: Headers that say more of the next member, as POSIX has it.
_TOLD_BY_POSIX: Final = frozenset({tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE})

#: Headers that say nothing of the content of a member: where a link leads, what is
#: true of all members, the name of a volume.
_PASSED_OVER: Final = frozenset({tarfile.GNUTYPE_LONGLINK, tarfile.XGLTYPE, b"V"})


def members(stream: ExpandedFile) -> Iterator[Entry]:
    """Yield the regular files of an archive, and what ends it before its time.

    Args:
        stream: The archive, from its beginning.
    """
    archive = _Archive(stream)
    try:
        yield from archive.entries()
    except DamagedHeaderError:
        place = f"byte {archive.place}"
        fault = Fault("damaged", place, "a header of tar, after which the rest is lost")
        yield Unread("", fault.text)
    except BrokenMemberError as error:
        yield Unread("", error.fault.text)


class _Archive:
    """An archive up to where it was read."""

    def __init__(self, stream: ExpandedFile) -> None:
        self.place = 0
        self._stream = stream
        self._header = b""
        self._left = 0

    def entries(self) -> Iterator[Entry]:
        told = Extended()
        while (info := self._next()) is not None:
            if info.type in _TOLD_BY_POSIX:
                told = extended(self._small(info.size))
            elif info.type == tarfile.GNUTYPE_LONGNAME:
                name = self._small(info.size).split(b"\0")[0]
                told = Extended(name.decode("utf-8", "surrogateescape"))
            elif info.type in _PASSED_OVER:
                self._skip(info.size)
            else:
                if info.type not in _WITHOUT_CONTENT:
                    yield from self._member(info, told)
                told = Extended()

    def _next(self) -> tarfile.TarInfo | None:
        """Return the next header; archives may follow one another after zeros."""
        was_zero = False
        while block := self._read(BLOCK):
            if len(block) < BLOCK:
                raise self._cut()
            if block.strip(b"\0"):
                break
            was_zero = True
        if not block:
            if self._stream.fault:
                raise self._cut()
            return None
        self._header = block
        try:
            return header(block)
        except DamagedHeaderError:
            if was_zero:  # what a tape has behind the end of its archive
                return None
            raise

    def _member(self, info: tarfile.TarInfo, told: Extended) -> Iterator[Entry]:
        size = info.size if told.size is None else told.size
        name = info.name if told.name is None else told.name
        modified_ns = told.modified_ns
        if modified_ns is None:
            modified_ns = seconds_ns(info.mtime)
        self._left = size
        if info.type == tarfile.GNUTYPE_SPARSE or told.is_sparse:
            self._skip_sparse_header(info)
            yield Unread(name, "a sparse file of tar; pack it again without --sparse")
        else:
            yield Member(name, size, modified_ns, self._content())
        self._skip(self._left, size)

    def _skip_sparse_header(self, info: tarfile.TarInfo) -> None:
        if info.type == tarfile.GNUTYPE_SPARSE:
            goes_on = self._header[SPARSE_GOES_ON]
            while goes_on:
                goes_on = self._exactly(BLOCK)[SPARSE_GOES_FURTHER]

    def _content(self) -> Iterator[bytes]:
        while self._left:
            chunk = self._read(min(self._left, _CHUNK))
            if not chunk:
                raise self._cut()
            self._left -= len(chunk)
            yield chunk

    def _small(self, size: int) -> bytes:
        """Return the content of a header, which is never large."""
        if size > MOST_EXTENDED:
            raise DamagedHeaderError
        content = self._exactly(size)
        self._skip(0, size)
        return content

    def _skip(self, left: int, size: int | None = None) -> None:
        """Pass over what is left of some content, and what fills its last block."""
        left += -(left if size is None else size) % BLOCK
        while left:
            left -= len(self._exactly(min(left, _CHUNK)))

    def _exactly(self, size: int) -> bytes:
        data = self._read(size)
        if len(data) < size:
            raise self._cut()
        return data

    def _read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self.place += len(data)
        return data

    def _cut(self) -> BrokenMemberError:
        cut = Fault("truncated", f"byte {self.place}", "the rest of the tar archive")
        return BrokenMemberError(self._stream.fault or cut)
