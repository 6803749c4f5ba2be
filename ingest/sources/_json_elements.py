"""The objects of the lists in a JSON document, one at a time, however long it is.

Only brackets outside strings are looked at, in bulk: an object that is damaged costs
itself, and a document that was cut short gives all that it has whole. Documents may
follow each other in one file.

This is for documents of gigabytes whose lists are told apart by their names (jobs and
nodes of a scheduler). _json_split takes objects from whatever is around them, and looks
at each string and bracket for it: ten times as slow, for answers of some megabytes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

import numpy as np
import numpy.typing as npt

from ingest.sources._source import RAW_CHARACTERS
from ingest.sources._utf8 import Pieces, count_broken

#: Bytes read at a time. [B]
CHUNK_BYTES: Final = 4 * 1024 * 1024

#: Longest object: a job with ten thousand steps takes some 30 MB. [B]
ELEMENT_BYTES: Final = 64 * 1024 * 1024

#: Bytes in which the name of a list stands in front of it. [B]
_NAME_BYTES: Final = 256

#: Depths at which a list of the document, and an object in it, have been opened.
_LIST, _OBJECT = 2, 3

_NAME: Final = re.compile(rb'"(\w{1,64})"\s*:\s*$')
_ESCAPE: Final = re.compile(rb"\\.", re.DOTALL)

#: What may stand around a document: blanks, NUL bytes, the mark of UTF-8.
_AROUND: Final = b" \t\r\n\0\xef\xbb\xbf"

_Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Element:
    """An object in a list of the document.

    Attributes:
        name: Key of the list.
        number: Place in it, counted from one over the file.
        data: Its bytes; of one that is no whole object the first of them.
        offset: Where it starts. [B]
        rule: Why it is no whole object: `truncated` or `record_too_long`.
    """

    name: str
    number: int
    data: bytes
    offset: int
    rule: str | None = None


class Elements:
    """Walks through a document.

    Attributes:
        cut_short: Whether brackets behind the last object leave the document open.
        repairs: Repairs around the objects, known at the end. [1]
    """

    def __init__(self, stream: BinaryIO) -> None:
        """Start before the first byte."""
        self._stream = stream
        self._depth = 0
        self._in_string = False
        self._read = 0
        self._name: str | None = None
        self._before = b""
        self._open: bytearray | None = None
        self._start = 0
        self._count = 0
        self._pieces = Pieces()
        self._broken = 0
        self._is_strange = False
        self.cut_short = False
        self.repairs = 0

    def __iter__(self) -> Iterator[Element]:
        """Yield every object."""
        held = b""
        while data := self._stream.read(CHUNK_BYTES):
            self._pieces.add(data)
            chunk = held + data
            slashes = len(chunk) - len(chunk.rstrip(b"\\"))
            held = b"\\" if slashes % 2 else b""
            yield from self._walk(chunk[: len(chunk) - len(held)])
        yield from self._rest()

    def _rest(self) -> Iterator[Element]:
        self.cut_short = self._depth != 0 or self._in_string
        self.repairs = self._pieces.repairs(self._broken) + self._is_strange
        if self._open is not None:
            self.cut_short = False
            self.repairs = self._pieces.has_nul_tail + self._is_strange
            yield self._element(bytes(self._open[:RAW_CHARACTERS]), "truncated")

    def _walk(self, chunk: bytes) -> Iterator[Element]:
        """Go through the brackets of a chunk that open or close what matters."""
        top = 0 if self._depth == 0 and not self._in_string else None
        places, depths = self._brackets(chunk)
        done = 0
        for place, depth in zip(places.tolist(), depths.tolist(), strict=True):
            opens = chunk[place] in b"{["
            if top is not None:
                self._pass(chunk[top:place])
            top = place + 1 if depth == 0 else None
            if depth == _LIST and opens:
                self._name = self._name_of(chunk, place)
            elif depth < _LIST:
                self._name = None
            elif opens and self._name is not None:
                self._open, self._start = bytearray(), self._read + place
                self._count += 1
                done = place
            elif not opens and self._open is not None:
                yield self._closed(chunk[done : place + 1])
                done = place + 1
        if self._depth == 0 and top is not None:
            self._pass(chunk[top:])
        if self._open is not None and len(self._open) <= ELEMENT_BYTES:
            self._open += chunk[done:]
        self._before = (self._before + chunk)[-_NAME_BYTES:]
        self._read += len(chunk)

    def _brackets(self, chunk: bytes) -> tuple[npt.NDArray[np.intp], _Bytes]:
        """Return the places of brackets near the top, and the depth behind each.

        The depth of what is open is that of the list or of the object; what closes
        has the depth that is left.
        """
        plain = _ESCAPE.sub(b"__", chunk) if b"\\" in chunk else chunk
        data = np.frombuffer(plain, np.uint8)
        inside = np.bitwise_xor.accumulate((data == ord('"')).view(np.uint8))
        opens = (data == ord("{")) | (data == ord("["))
        closes = (data == ord("}")) | (data == ord("]"))
        outside = inside == self._in_string
        places = np.flatnonzero((opens | closes) & outside)
        opening = opens[places]
        depths = np.cumsum(np.where(opening, 1, -1)) + self._depth
        self._in_string ^= bool(inside[-1]) if len(inside) else False
        self._depth = int(depths[-1]) if len(depths) else self._depth
        near = np.where(opening, depths <= _OBJECT, depths <= _LIST)
        return places[near], depths[near]

    def _pass(self, between: bytes) -> None:
        """Look at what stands between two documents, or behind the last."""
        self._is_strange |= bool(between.strip(_AROUND))

    def _name_of(self, chunk: bytes, place: int) -> str | None:
        """Return the key of a list, None of what is none."""
        if chunk[place] != ord("["):
            return None
        text = self._before + chunk[max(place - _NAME_BYTES, 0) : place]
        found = _NAME.search(text[-_NAME_BYTES:])
        return found[1].decode() if found else None

    def _closed(self, last: bytes) -> Element:
        whole = bytes(self._open or b"") + last
        self._open = None
        if len(whole) > ELEMENT_BYTES:
            return self._element(whole[:RAW_CHARACTERS], "record_too_long")
        return self._element(whole, None)

    def _element(self, data: bytes, rule: str | None) -> Element:
        self._broken += count_broken(data)
        return Element(self._name or "", self._count, data, self._start, rule)
