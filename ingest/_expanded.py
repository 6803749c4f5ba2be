"""A plain or gzip file as one stream of its content."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from isal import igzip_lib

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: First bytes of a gzip file, whatever its name is.
_GZIP_MAGIC: Final = b"\x1f\x8b"

#: Bytes that are read, and expanded, at a time. What a damaged file loses before the
#: damage is at most this much; a bomb never expands to more at once. [B]
_CHUNK: Final = 1 << 16

#: Bytes that are buffered for readers of lines. [B]
_BUFFER: Final = 1 << 18


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a stream ended before its time.

    Attributes:
        rule: `truncated` where the rest is missing, `damaged` where it is wrong.
        place: Where in the compressed file.
        expected: What was expected there.
    """

    rule: Literal["truncated", "damaged"]
    place: str
    expected: str


class ExpandedFile(io.BufferedReader):
    """The content of a file, expanded where its first bytes say that it is gzip."""

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            OSError: If there is no such file, or none that may be read.
        """
        file = io.FileIO(path)
        try:
            is_gzip = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
            file.seek(0)
        except BaseException:
            file.close()
            raise
        self._members = _Members(file) if is_gzip else None
        super().__init__(self._members or file, _BUFFER)

    @property
    def is_gzip(self) -> bool:
        """Whether the file is in a gzip envelope."""
        return self._members is not None

    @property
    def fault(self) -> Fault | None:
        """Why the stream ended early; None while nothing was wrong."""
        return self._members.fault if self._members else None


class _Members(io.RawIOBase):
    """The members of a gzip file, one after the other, up to the first fault."""

    def __init__(self, file: io.FileIO) -> None:
        self.fault: Fault | None = None
        self._file = file
        self._input = b""
        self._read = 0
        self._output = memoryview(b"")
        self._member: igzip_lib.IgzipDecompressor | None = None
        self._is_first = True

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: "WriteableBuffer") -> int:
        target = memoryview(buffer).cast("B")
        while not self._output:
            if self.fault or not self._expand():
                return 0
        size = min(len(target), len(self._output))
        target[:size] = self._output[:size]
        self._output = self._output[size:]
        return size

    def _expand(self) -> bool:
        """Expand some more; False at the end."""
        member = self._member or self._begin()
        if member is None:
            return False
        waits = member.needs_input and not self._input
        if waits and not self._refill():
            self._stop("truncated", "the rest of the gzip stream")
            return False
        try:
            expanded = member.decompress(self._input, _CHUNK)
        except igzip_lib.error:  # type: ignore[misc]
            self._stop("damaged", "an intact gzip stream")
            return False
        self._output, self._input = memoryview(expanded), b""
        self._member = member
        if member.eof:
            self._input, self._member = member.unused_data, None
        return True

    def _begin(self) -> igzip_lib.IgzipDecompressor | None:
        """Find the next member. As gzip does, pass over zeros between members."""
        self._skip_zeros()
        while len(self._input) < len(_GZIP_MAGIC) and self._refill():
            self._skip_zeros()
        self._is_first = False
        if self._input.startswith(_GZIP_MAGIC):
            return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        if self._input:
            self._stop("damaged", "the end of the file after its gzip stream")
        return None

    def _skip_zeros(self) -> None:
        if not self._is_first:
            self._input = self._input.lstrip(b"\0")

    def _refill(self) -> bool:
        more = self._file.read(_CHUNK)
        self._read += len(more)
        self._input += more
        return bool(more)

    def _stop(self, rule: Literal["truncated", "damaged"], expected: str) -> None:
        self.fault = Fault(rule, f"byte {self._read}", expected)
