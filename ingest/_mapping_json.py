"""Objects of JSON, one a line or all in one list."""

import codecs
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import msgspec
import polars as pl

from ingest._mapping_cells import LINE, Cells
from ingest._mapping_objects import BAD_JSON, Objects, frame_of
from ingest.sources import Refusal
from ingest.sources._lines import BLOCK_BYTES, blocks
from ingest.sources._lines_json import decode
from ingest.sources._source import RAW_CHARACTERS
from ingest.tables import Table

#: Longest object of a list: what is longer has lost its end. [B]
OBJECT_BYTES: Final = 16 * 1024 * 1024

#: Ends of objects that are tried before a list is searched object by object: a list
#: inside the last object of a block has some.
_TRIES: Final = 8

#: How far from the end of a block an end of an object is looked for. [B]
_BACK: Final = 64 * 1024

#: Rule of a list that ends before its closing bracket.
TRUNCATED: Final = "truncated"

_WHITE: Final = b" \t\r\n"
_SEAM: Final = re.compile(rb"}[ \t\r\n]*,")
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*+("|\\?\Z)|[{}\[\],]', re.DOTALL)


def read_lines(
    stream: BinaryIO, fields: tuple[str, ...], null: tuple[str, ...], table: type[Table]
) -> Iterator[Cells]:
    """Yield the objects of a file that has one a line."""
    objects = Objects(fields)
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(objects.kind)
    for block in blocks(stream):
        found, refused = decode(block, decoder, table)
        places = [f"line {record.number}" for record in found]
        lines = [record.line.decode() for record in found]
        frame = frame_of(objects.raw([r.value for r in found]), places, null)
        with_lines = frame.with_columns(pl.Series(LINE, lines, dtype=pl.String))
        yield Cells(with_lines, tuple(refused), block.repairs)


def read_list(
    stream: BinaryIO, fields: tuple[str, ...], null: tuple[str, ...], table: type[Table]
) -> Iterator[Cells]:
    """Yield the objects of a file that is one list of them."""
    objects = Objects(fields)
    reader = _List(objects.kind, table)
    text = codecs.getincrementaldecoder("utf-8")("replace")
    rest = b""
    while not reader.is_over:
        data = stream.read(BLOCK_BYTES)
        clean = text.decode(data, final=not data).encode()
        repairs = int(data not in clean and b"\xef\xbf\xbd" in clean)
        found, rest = reader.take(rest + clean, is_last=not data)
        places = [f"entry {number}" for number, _ in found]
        frame = frame_of(objects.raw([one for _, one in found]), places, null)
        yield Cells(frame, tuple(reader.refused), repairs + reader.repairs)
        reader.refused, reader.repairs = [], 0


class _List:
    """The objects of a list that comes in pieces."""

    def __init__(self, kind: type[msgspec.Struct], table: type[Table]) -> None:
        self.refused: list[Refusal] = []
        self.repairs = 0
        self.is_over = False
        self._one: Any = msgspec.json.Decoder(kind)
        self._all: Any = msgspec.json.Decoder(list[kind])  # type: ignore[valid-type]
        self._table = table
        self._seen = 0
        self._is_open = False

    def take(
        self, data: bytes, *, is_last: bool
    ) -> tuple[list[tuple[int, msgspec.Struct]], bytes]:
        """Return the objects that are whole with their numbers, and what is left."""
        if not self._is_open:
            data = data.removeprefix(codecs.BOM_UTF8).lstrip(_WHITE)
            self._is_open = data.startswith(b"[")
            data = data.removeprefix(b"[")
        whole = self._whole(data, is_last=is_last)
        if whole is not None:
            found, rest = whole
            first, self._seen = self._seen + 1, self._seen + len(found)
            return list(enumerate(found, first)), rest
        return self._search(data, is_last=is_last)

    def _whole(
        self, data: bytes, *, is_last: bool
    ) -> tuple[list[msgspec.Struct], bytes] | None:
        """Decode all objects at once; None where that cannot be."""
        if is_last:
            self.is_over = True
            try:
                return self._all.decode(b"[" + data), b""
            except (msgspec.DecodeError, RecursionError):
                return None
        start = max(0, len(data) - _BACK)
        for seam in [*_SEAM.finditer(data, start)][: -_TRIES - 1 : -1]:
            try:
                found = self._all.decode(b"[" + data[: seam.start() + 1] + b"]")
            except (msgspec.DecodeError, RecursionError):
                continue
            return found, data[seam.end() :]
        return None

    def _search(
        self, data: bytes, *, is_last: bool
    ) -> tuple[list[tuple[int, msgspec.Struct]], bytes]:
        """Find and decode the objects one by one."""
        found: list[tuple[int, msgspec.Struct]] = []
        depth = start = 0
        for token in _TOKEN.finditer(data):
            sign = token[0]
            if sign[:1] == b'"':
                if not token[1].startswith(b'"'):
                    break
            elif sign in b"{[":
                depth += 1
            elif depth and sign in b"}]":
                depth -= 1
            elif not depth:
                self._decode(data[start : token.start()], found, sign)
                start = token.end()
                if sign == b"]":
                    self._finish(data[start:])
                    return found, b""
        return found, self._left(data[start:], is_last=is_last)

    def _decode(
        self, data: bytes, found: list[tuple[int, msgspec.Struct]], end: bytes
    ) -> None:
        if not data.strip(_WHITE):
            # a comma with nothing behind it
            self.repairs += int(end == b"," or self._seen > 0)
            return
        self._seen += 1
        try:
            found.append((self._seen, self._one.decode(data)))
        except msgspec.ValidationError:
            self._refuse("type", data)
        except (msgspec.DecodeError, RecursionError):
            self._refuse(BAD_JSON, data)

    def _left(self, data: bytes, *, is_last: bool) -> bytes:
        if not is_last and len(data) <= OBJECT_BYTES:
            return data
        self.is_over = True
        self._seen += 1
        self._refuse(TRUNCATED if is_last else "object_too_long", data)
        return b""

    def _finish(self, rest: bytes) -> None:
        self.is_over = True
        if rest.strip(_WHITE):
            self._seen += 1
            self._refuse("after_the_list", rest)

    def _refuse(self, rule: str, data: bytes) -> None:
        raw = data[: 4 * RAW_CHARACTERS].strip().decode("utf-8", errors="replace")
        place = f"entry {self._seen}"
        self.refused.append(Refusal(self._table, place, rule, raw[:RAW_CHARACTERS]))
