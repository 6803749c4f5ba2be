"""Series of JSON documents of the HTTP API, one at a time out of a stream.

A document of any length is cut where a series begins: `{"metric":{` with a brace after
the colon is nowhere else, for in a string its quotes have backslashes, and the label
`metric` has a string. So a long answer needs no more memory than its longest series,
and of one that was cut short the series before the cut are whole.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

import msgspec

from ingest.sources._utf8 import is_utf8

#: Bytes that are read at a time. [B]
_BLOCK_BYTES: Final = 4 * 1024 * 1024

#: Longest series: some ten million samples. [B]
_SERIES_BYTES: Final = 256 * 1024 * 1024

#: Bytes of the end of a piece in which its series ends; what follows it are brackets,
#: and the warnings of the answer. [B]
_END_BYTES: Final = 65_536

#: Ends that are tried, the last first.
_MOST_ENDS: Final = 50

_START: Final = re.compile(rb'\{\s*"metric"\s*:\s*\{')
_END: Final = re.compile(rb"\}(?=\s*(?:[\],]|$))")

#: Longest text that `_START` matches, however it is indented. [B]
_OVERLAP: Final = 256


class Found(msgspec.Struct):
    """A series of an answer; of VictoriaMetrics' export where it has `timestamps`.

    What is absent is an empty text.
    """

    metric: dict[str, str]
    value: msgspec.Raw = msgspec.Raw()
    values: msgspec.Raw = msgspec.Raw()
    timestamps: msgspec.Raw = msgspec.Raw()


class Piece(NamedTuple):
    """A part of a document: the text of a series, and what was found in it.

    Attributes:
        text: The part, from the start of the series to that of the next.
        found: The series; None where it is none.
        rest: What follows the series.
        rule: Rule that it breaks where it is none.
        is_mended: Whether it had bytes that are not UTF-8; they were replaced.
    """

    text: bytes
    found: Found | None
    rest: bytes = b""
    rule: str | None = None
    is_mended: bool = False


class Document:
    """An answer that is read series by series.

    Attributes:
        envelope: What came before the first series.
        end: What came after the last.
        repairs: Repairs around the series, once all were yielded. [1]
    """

    def __init__(self, stream: BinaryIO) -> None:
        """Start at the stream's start."""
        self._stream = stream
        self.envelope = b""
        self.end = b""
        self.repairs = 0

    @property
    def is_cut(self) -> bool:
        """Whether a list that begins before the first series has no end."""
        return b"[" in self.envelope and b"]" not in self.end

    def pieces(self) -> Iterator[Piece]:
        """Yield every series."""
        parts = self._parts()
        self.envelope = self.end = next(parts)
        before = next(parts, None)
        for part in parts:
            if before is not None:
                yield _piece(before, "json")
            before = part
        last_text = (before or self.envelope).rstrip(b" \t\r\n")
        self.repairs = last_text.endswith(b"\0") + (not is_utf8(self.envelope))
        if before is not None:
            last = _piece(before, "truncated")
            # a series that was cut is itself refused for it
            self.end = last.rest if last.found else b"]"
            yield last

    def _parts(self) -> Iterator[bytes]:
        """Yield what is before the first series, and each series with what follows."""
        rest, scanned = b"", 0
        while data := self._stream.read(_BLOCK_BYTES):
            rest += data
            begin = 0
            for match in _START.finditer(rest, scanned):
                yield rest[begin : match.start()]
                # a match at the start of what is kept is never found again
                begin, scanned = match.start(), 1
            rest = rest[begin:]
            if len(rest) > _SERIES_BYTES:
                rest = rest[:_END_BYTES] + rest[-_OVERLAP:]
            scanned = max(min(scanned, 1), len(rest) - _OVERLAP)
        yield rest


def _piece(text: bytes, rule: str) -> Piece:
    """Decode a series; the rule is what it breaks where it has no end."""
    piece = _decoded(text)
    if not is_utf8(text):
        if piece.found is None:
            piece = _decoded(text.decode("utf-8", errors="replace").encode())
        piece = piece._replace(is_mended=True)
    return piece if piece.found else piece._replace(rule=piece.rule or rule)


def _decoded(text: bytes) -> Piece:
    """Find the series at the start of a text."""
    kept = text.rstrip(b", \r\n\t\0")
    first = max(0, len(kept) - _END_BYTES)
    ends = [match.end() for match in _END.finditer(kept, first)]
    for end in reversed(ends[-_MOST_ENDS:]):
        try:
            return Piece(text, _DECODER.decode(kept[:end]), kept[end:])
        except msgspec.ValidationError:
            return Piece(text, None, rule="type")
        except (msgspec.DecodeError, RecursionError):
            continue
    return Piece(text, None)


_DECODER: Final = msgspec.json.Decoder(Found)
