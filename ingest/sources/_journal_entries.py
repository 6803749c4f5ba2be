"""Entries of the systemd journal, whichever form journalctl wrote them in.

The fields are those of systemd.journal-fields(7); the forms are those of
`journalctl --output=json`, `json-seq`, `json-pretty` and `export`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._json_records import decode, json_records
from ingest.sources._kernel.patterns import CANDIDATE
from ingest.sources._lines import TRUNCATED, refuse
from ingest.sources._lines_frames import Lines, line_frames
from ingest.sources._source import RAW_CHARACTERS, Refusal
from ingest.tables import Failures

#: Longest field of the export format that is read. [B]
FIELD_BYTES: Final = 16 * 1024 * 1024

#: Entries of the export format handed on at a time.
ENTRIES: Final = 10_000

#: A message that is not UTF-8 is an array of bytes.
_BYTES: Final = r'"MESSAGE"\s*:\s*\['

#: Mark in front of each line of `application/json-seq`.
_MARK: Final = "\x1e"

#: Fields that are kept of an entry in the export format.
_FIELDS: Final = frozenset(
    {
        b"__REALTIME_TIMESTAMP",
        b"__MONOTONIC_TIMESTAMP",
        b"_SOURCE_MONOTONIC_TIMESTAMP",
        b"_HOSTNAME",
        b"_TRANSPORT",
        b"SYSLOG_IDENTIFIER",
        b"MESSAGE",
    }
)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry with its place and its text."""

    place: str
    raw: str
    value: dict[str, object]


@dataclass(slots=True)
class Entries:
    """Entries that may matter, among others that do not.

    Attributes:
        kept: The entries, in the order of the file.
        refused: What is no entry.
        seen: Entries of any kind, and what is none. [1]
        repairs: Texts in which bytes had to be replaced. [1]
    """

    kept: list[Entry] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    seen: int = 0
    repairs: int = 0


def of_lines(stream: BinaryIO) -> Iterator[Entries]:
    """Read a file with an object on each line; decode only lines that may matter."""
    for lines in line_frames(stream, Failures):
        yield _of_frame(lines)


def of_documents(stream: BinaryIO) -> Iterator[Entries]:
    """Read objects that run over many lines."""
    for records in json_records(stream, Failures):
        kept = [Entry(one.place, one.raw, one.value) for one in records.found]
        yield Entries(kept, records.refused, records.seen, records.repairs)


def of_export(stream: BinaryIO) -> Iterator[Entries]:
    """Read entries in the export format: fields on lines, binary ones with a length."""
    entries, number = Entries(), 1
    for value in _export_values(stream):
        place = f"entry {number}"
        entries.seen += 1
        number += 1
        if value is None:
            hint = "the file ends inside a field, or its length is damaged"
            entries.refused.append(Refusal(Failures, place, "truncated", "", hint))
        else:
            entries.kept.append(Entry(place, str(value), value))
        if entries.seen >= ENTRIES:
            yield entries
            entries = Entries()
    yield entries


def _export_values(stream: BinaryIO) -> Iterator[dict[str, object] | None]:
    """Yield the fields of each entry; None, and no more, where a length is damaged."""
    value: dict[str, object] = {}
    is_open = False
    while line := stream.readline(FIELD_BYTES):
        name, equals, text = line.rstrip(b"\n").partition(b"=")
        data = text if equals or not name else _binary(stream)
        if data is None:
            yield None
            return
        if name:
            is_open = True
        elif is_open:
            yield value
            value, is_open = {}, False
        if name in _FIELDS:
            value[name.decode()] = data.decode("utf-8", errors="replace")
    if is_open:
        yield value


def _binary(stream: BinaryIO) -> bytes | None:
    """Return the bytes of a field that is written with its length."""
    size = int.from_bytes(stream.read(8), "little")
    if size > FIELD_BYTES:
        return None
    data = stream.read(size)
    return data if len(data) == size and stream.read(1) == b"\n" else None


def _of_frame(lines: Lines) -> Entries:
    entries = Entries([], list(lines.refused), repairs=lines.repairs)
    entries.seen = len(lines.frame) + len(lines.refused)
    line = pl.col("line").str.strip_chars(_MARK + " ")
    frame = lines.frame.with_columns(line).filter(pl.col("line") != "")
    entries.seen -= len(lines.frame) - len(frame)
    may_matter = pl.col("line").str.contains(rf"{CANDIDATE}|{_BYTES}")
    is_object = pl.col("line").str.starts_with("{") & pl.col("line").str.ends_with("}")
    last = frame["number"].max() if lines.cut_short else None
    for number, text in frame.filter(may_matter | ~is_object).iter_rows():
        value = decode(text.encode())
        if isinstance(value, dict):
            entries.kept.append(Entry(f"line {number}", text[:RAW_CHARACTERS], value))
        else:
            rule = TRUNCATED if number == last else "json"
            entries.refused.append(refuse(Failures, number, rule, text))
    return entries
