"""Objects of a JSON text with their places: lines, lists or documents, whichever."""

import io
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import BinaryIO, Final

import msgspec

from ingest.sources._json_split import Objects
from ingest.sources._lines import TRUNCATED, Block, blocks
from ingest.sources._source import HEAD_BYTES, RAW_CHARACTERS, Refusal
from ingest.sources._utf8 import count_broken
from ingest.tables import Table

#: Records handed on at a time.
RECORDS: Final = 10_000

#: Lines at the start that are tried: two that are objects make a file of lines.
_LINES_TRIED: Final = 20

_BOM: Final = b"\xef\xbb\xbf"

#: What may stand around a line: the mark in front of each in `application/json-seq`.
_AROUND: Final = b" \t\r\n\0\x1e"

JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True)
class Record:
    """An object, its place in the file and its text."""

    place: str
    raw: str
    value: JsonObject


@dataclass(frozen=True, slots=True)
class Records:
    """Objects that follow each other, and what is none.

    Attributes:
        found: The objects.
        refused: What could not be decoded.
        repairs: Texts in which bytes had to be replaced, NUL bytes at the end that
            were dropped, bytes around the texts that are not UTF-8, and what else
            stands around documents. [1]
    """

    found: list[Record]
    refused: list[Refusal]
    repairs: int = 0

    @property
    def seen(self) -> int:
        """Objects and what is none. [1]"""
        return len(self.found) + len(self.refused)


def json_records(
    stream: BinaryIO, table: type[Table], lists: Set[str] = frozenset()
) -> Iterator[Records]:
    """Read the objects of a JSON text.

    Args:
        stream: What to read.
        table: What a refused text was meant for.
        lists: Keys of a document whose lists hold the records.
    """
    start = stream.read(HEAD_BYTES).removeprefix(_BOM)
    if is_lines(start, lists):
        whole = rejoined(start, stream)
        yield from (_of_block(block, table) for block in blocks(whole))
    else:
        yield from _of_documents(stream, start, table, lists)


def rejoined(start: bytes, stream: BinaryIO) -> BinaryIO:
    """Return a stream that begins with what was already read of it."""
    return io.BufferedReader(_Joined(start, stream))


def decode(raw: bytes) -> JsonObject | str:
    """Return an object, or in words why a text is none."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        return str(error)
    return value if isinstance(value, dict) else "expected an object"


class _Joined(io.RawIOBase):
    """A stream that starts with what was already read of it."""

    def __init__(self, start: bytes, stream: BinaryIO) -> None:
        super().__init__()
        self._start = start
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        data = self._start[: len(view)] or self._stream.read(len(view))
        self._start = self._start[len(view) :]
        view[: len(data)] = data
        return len(data)


def is_lines(start: bytes, lists: Set[str] = frozenset()) -> bool:
    """Whether a file has an object on each line: the first, or two of the others."""
    lines = [line for raw in start.split(b"\n") if (line := raw.strip(_AROUND))]
    if not lines or not lines[0].startswith(b"{"):
        return False
    values = [decode(line) for line in lines[:_LINES_TRIED]]
    objects = [value for value in values if isinstance(value, dict) and value]
    if any(isinstance(one.get(key), list) for one in objects for key in lists):
        return False
    return isinstance(values[0], dict) or len(objects) > 1


def _of_block(block: Block, table: type[Table]) -> Records:
    records = Records([], [], block.repairs)
    for number, line in block.lines():
        raw = line.strip(_AROUND)
        is_cut = block.cut_short and number == block.last
        _keep(records, raw, f"line {number}", table, TRUNCATED if is_cut else "json")
    return records


def _of_documents(
    stream: BinaryIO, start: bytes, table: type[Table], lists: Set[str]
) -> Iterator[Records]:
    objects = Objects(stream, start, {key.encode() for key in lists})
    records, repairs, number, broken = Records([], []), 0, 0, 0
    for number, raw in enumerate(objects, 1):
        sequences = count_broken(raw)
        repairs += sequences > 0
        broken += sequences
        text = raw.decode("utf-8", errors="replace").encode() if sequences else raw
        _keep(records, text, f"entry {number}", table, "json")
        if records.seen >= RECORDS:
            yield Records(records.found, records.refused, repairs)
            records, repairs = Records([], []), 0
    repairs += objects.pieces.repairs(broken + count_broken(objects.rest))
    repairs += objects.strange
    records.refused.extend(_unfinished(objects, number, table))
    yield Records(records.found, records.refused, repairs)


def _unfinished(objects: Objects, number: int, table: type[Table]) -> list[Refusal]:
    """Return what the end of the file left open."""
    raw = objects.rest[: 4 * RAW_CHARACTERS].decode("utf-8", errors="replace")
    place = f"entry {number + 1}"
    if objects.too_long:
        hint = "an object of more than 64 MiB; what follows it was not read"
        return [Refusal(table, place, "record_too_long", raw[:RAW_CHARACTERS], hint)]
    if not objects.rest and not objects.unclosed:
        return []
    hint = "the file ends inside an object" if raw else "the file ends inside a list"
    return [Refusal(table, place, "truncated", raw[:RAW_CHARACTERS], hint)]


def _keep(
    records: Records, raw: bytes, place: str, table: type[Table], rule: str
) -> None:
    value = decode(raw)
    text = raw[: 4 * RAW_CHARACTERS].decode("utf-8", errors="replace")
    kept = text[:RAW_CHARACTERS]
    if isinstance(value, dict):
        records.found.append(Record(place, kept, value))
    else:
        wrong = "type" if value == "expected an object" else rule
        records.refused.append(Refusal(table, place, wrong, kept, value))
