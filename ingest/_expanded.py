"""A file as one stream of its content, plain, in envelopes, or in UTF-16."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from ingest._envelope_file import PlainFile
from ingest._envelope_layer import Fault, Layer
from ingest._envelope_members import BZIP2, GZIP, XZ, Members
from ingest._envelope_text import ENCODINGS, Utf16
from ingest._envelope_zstd import Zstd

__all__ = ["MOST_ENVELOPES", "MOST_RATIO", "SMALL_BYTES", "ExpandedFile", "Fault"]

#: Envelopes in one another that are opened: packed by a tool, and again by what moved
#: the file. More of them are somebody's trap.
MOST_ENVELOPES: Final = 2

#: Bytes that tell what an envelope is: ten of bzip2, whose first three could be text.
_START: Final = 10

#: Bytes of content that any file may have, however small it is. [B]
SMALL_BYTES: Final = 1 << 30

#: Beyond that, how many times its size on disk the content of a file may be: logs that
#: repeat themselves pack to a hundredth, and only bombs to less than a thousandth.
MOST_RATIO: Final = 1_000

#: Bytes that are buffered for readers of lines. [B]
_BUFFER: Final = 1 << 18

#: What a block of bzip2 starts with, and the end of an empty stream.
_BZIP2_BLOCKS: Final = (b"1AY&SY", b"\x17rE8P\x90")


@dataclass(frozen=True, slots=True)
class _Envelope:
    """A kind of envelope.

    Attributes:
        endings: What it adds to the name of a file.
        opens: Opens it.
    """

    endings: tuple[str, ...]
    opens: Callable[[io.RawIOBase], Layer]


_GZIP: Final = _Envelope((".gz",), partial(Members, packing=GZIP))
_BZIP2: Final = _Envelope((".bz2",), partial(Members, packing=BZIP2))
_XZ: Final = _Envelope((".xz",), partial(Members, packing=XZ))
_ZSTD: Final = _Envelope((".zst", ".zstd"), Zstd)


class ExpandedFile(io.BufferedReader):
    """The content of a file, expanded where its first bytes say that it is packed."""

    def __init__(self, path: Path, size: int | None = None) -> None:
        """Open a file.

        Args:
            path: The file.
            size: Size of the content when it was hashed; what a file has grown by
                since then is not read. [B]

        Raises:
            OSError: If there is no such file, or none that may be read.
        """
        file = PlainFile(path)
        self._parts: list[PlainFile | Layer] = [file]
        self._endings: list[tuple[str, ...]] = []
        try:
            top = self._unfold(file)
        except BaseException:
            file.close()
            raise
        if size is not None:
            top.bound(size)
        super().__init__(top, _BUFFER)

    @property
    def is_plain(self) -> bool:
        """Whether the file on disk is its content."""
        return len(self._parts) == 1

    @property
    def fault(self) -> Fault | None:
        """Why the stream ended early; None while nothing was wrong."""
        return next((part.fault for part in self._parts if part.fault), None)

    def bare(self, name: str) -> str:
        """Return the name of the file without the endings of its envelopes."""
        for endings in self._endings:
            ending = next((end for end in endings if name.endswith(end)), "")
            name = name.removesuffix(ending)
        return name

    def _unfold(self, file: PlainFile) -> PlainFile | Layer:
        """Put a layer on the file for each of its envelopes; return the last."""
        most = max(SMALL_BYTES, MOST_RATIO * file.size_on_disk)
        start = file.read(_START)
        file.seek(0)
        while envelope := _envelope_of(start):
            if len(self._endings) == MOST_ENVELOPES:
                return self._put(_TooDeep(self._parts[-1]), most)
            self._endings.append(envelope.endings)
            layer = self._put(envelope.opens(self._parts[-1]), most)
            start = layer.peek(_START)
        if encoding := ENCODINGS.get(start[:2]):
            self._put(Utf16(self._parts[-1], encoding), most)
        return self._parts[-1]

    def _put(self, layer: Layer, most: int) -> Layer:
        layer.limit(most)
        self._parts.append(layer)
        return layer


def _envelope_of(start: bytes) -> _Envelope | None:
    """Return the kind of envelope that starts so."""
    if start.startswith(GZIP.magic):
        return _GZIP
    if start.startswith(XZ.magic):
        return _XZ
    if start.startswith(BZIP2.magic) and start[4:_START] in _BZIP2_BLOCKS:
        return _BZIP2
    is_skippable = start[1:4] == b"\x2a\x4d\x18" and start[0] >> 4 == 5  # noqa: PLR2004
    return _ZSTD if start.startswith(b"\x28\xb5\x2f\xfd") or is_skippable else None


class _TooDeep(Layer):
    """An envelope in too many others: nothing of it is read."""

    def _expand(self) -> bytes | None:
        self.fault = Fault(
            "nested",
            "file",
            f"at most {MOST_ENVELOPES} envelopes, one in the other",
            "expand it before",
        )
        return None
