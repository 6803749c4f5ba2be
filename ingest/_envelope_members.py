"""Envelopes of members that follow one another: gzip, bzip2 and xz."""

import bz2
import io
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from isal import igzip_lib

from ingest._envelope_layer import CHUNK, Fault, Layer, Rule

#: Memory that an xz stream may ask for: `xz -9` takes 65 MiB, and a stream that asks
#: for more was made to take it. [B]
_XZ_BYTES: Final = 256 * 1024 * 1024


class _Member(Protocol):
    """A member that is being expanded."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Packing:
    """A way to pack that makes members.

    Attributes:
        name: Its name.
        magic: What each member starts with.
        begin: Starts to expand a member.
        errors: What it raises at damage.
    """

    name: str
    magic: bytes
    begin: Callable[[], _Member]
    errors: tuple[type[Exception], ...]


def _gzip_member() -> _Member:
    member: _Member = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
    return member


def _xz_member() -> _Member:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_BYTES)


# what its stubs call an exception is a kind of them
_GZIP_ERROR: Final[type[Exception]] = igzip_lib.error  # type: ignore[assignment]

GZIP: Final = Packing("gzip", b"\x1f\x8b", _gzip_member, (_GZIP_ERROR,))
BZIP2: Final = Packing(
    "bzip2", b"BZh", bz2.BZ2Decompressor, (OSError, EOFError, ValueError)
)
XZ: Final = Packing("xz", b"\xfd7zXZ\0", _xz_member, (lzma.LZMAError, EOFError))


class Members(Layer):
    """The members of an envelope, one after the other, up to the first fault."""

    def __init__(self, packed: io.RawIOBase, packing: Packing) -> None:
        """Open an envelope."""
        super().__init__(packed)
        self._packing = packing
        self._input = b""
        self._read = 0
        self._member: _Member | None = None
        self._is_first = True

    def _expand(self) -> bytes | None:
        member = self._member or self._begin()
        if member is None:
            return None
        waits = member.needs_input and not self._input
        if waits and not self._refill():
            self._stop("truncated", f"the rest of the {self._packing.name} stream")
            return None
        try:
            expanded = member.decompress(self._input, CHUNK)
        except self._packing.errors:
            self._stop("damaged", f"an intact {self._packing.name} stream")
            return None
        self._input, self._member = b"", member
        if member.eof:
            self._input, self._member = member.unused_data, None
        return expanded

    def _begin(self) -> _Member | None:
        """Find the next member. As gzip does, pass over zeros between members."""
        magic = self._packing.magic
        self._skip_zeros()
        while len(self._input) < len(magic) and self._refill():
            self._skip_zeros()
        self._is_first = False
        if self._input.startswith(magic):
            return self._packing.begin()
        if self._input:
            name = self._packing.name
            self._stop("damaged", f"the end of the file after its {name} stream")
        return None

    def _skip_zeros(self) -> None:
        if not self._is_first:
            self._input = self._input.lstrip(b"\0")

    def _refill(self) -> bool:
        more = self._packed.read(CHUNK) or b""
        self._read += len(more)
        self._input += more
        return bool(more)

    def _stop(self, rule: Rule, expected: str) -> None:
        self.fault = Fault(rule, f"byte {self._read}", expected)
