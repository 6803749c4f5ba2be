"""Kernel messages in the systemd journal: `journalctl -o json`, json-seq and export.

The journal has the exact time, in UTC, and the node of every entry; times since boot
are the kernel's own. What is no message of the kernel is passed over.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.sources import _journal_entries as journal
from ingest.sources._failure_words import items, number, text
from ingest.sources._json_records import is_lines, rejoined
from ingest.sources._kernel.events import events_of, refusals_of, told_by
from ingest.sources._kernel.storms import thin_entries
from ingest.sources._source import (
    HEAD_BYTES,
    RAW_CHARACTERS,
    Batch,
    Head,
    Reading,
    Refusal,
    Source,
)
from ingest.tables import Failures

#: Rows of a batch.
BATCH_ROWS: Final = 100_000

_STAMP: Final = re.compile(r'^\{.*"__REALTIME_TIMESTAMP"\s*:', re.DOTALL)
_EXPORT: Final = re.compile(r"^(?:__CURSOR|__REALTIME_TIMESTAMP)=", re.MULTILINE)
_BOM: Final = b"\xef\xbb\xbf"

#: Bounds of microseconds whose nanoseconds fit 64 bits. [us]
_MICROSECONDS: Final = range(-(2**63) // 1_000, 2**63 // 1_000)

_BYTE: Final = range(256)

_COLUMNS: Final = {
    "number": pl.Int64,
    "place": pl.String,
    "line": pl.String,
    "host": pl.String,
    "time_ns": pl.Int64,
    "boot_offset_ns": pl.Int64,
}


def recognizes(head: Head) -> bool:
    """Return whether the head has the fields that the journal gives every entry."""
    data = head.text.lstrip("\x1e \t\r\n")
    return bool(_STAMP.search(data)) or bool(_EXPORT.match(data))


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the failures among the kernel's messages of a journal."""
    kept: list[pl.DataFrame] = []
    for entries in _entries(stream):
        refused, told = entries.refused, []
        for entry in entries.kept:
            found = _of_kernel(entry)
            if isinstance(found, Refusal):
                refused.append(found)
            elif found:
                told.append(found)
        kept.append(thin_entries(_frame(told)))
        yield Batch(
            refused=tuple(refused), records=entries.seen, repairs=entries.repairs
        )
    if not any(len(part) for part in kept):
        return
    events = events_of(thin_entries(pl.concat(kept)), reading)
    yield Batch(refused=refusals_of(events))
    for part in events.filter(pl.col("rule").is_null()).iter_slices(BATCH_ROWS):
        if len(part):
            yield Batch({Failures: part.drop("rule", "naive")})


def _entries(stream: BinaryIO) -> Iterator[journal.Entries]:
    start = stream.read(HEAD_BYTES).removeprefix(_BOM)
    whole = rejoined(start, stream)
    if start.lstrip()[:1] not in {b"{", b"\x1e"}:
        return journal.of_export(whole)
    return journal.of_lines(whole) if is_lines(start) else journal.of_documents(whole)


def _of_kernel(entry: journal.Entry) -> tuple[object, ...] | Refusal | None:
    """Return what the frame needs of an entry; None of what the kernel did not say."""
    value = entry.value
    by = value.get("_TRANSPORT") or value.get("SYSLOG_IDENTIFIER")
    message = _message(value.get("MESSAGE"))
    if by != "kernel" or not message:
        return None
    time_us = number(value.get("__REALTIME_TIMESTAMP"))
    if time_us is None or time_us not in _MICROSECONDS:
        rule = "__REALTIME_TIMESTAMP|required"
        return Refusal(Failures, entry.place, rule, entry.raw[:RAW_CHARACTERS])
    boot = value.get("_SOURCE_MONOTONIC_TIMESTAMP") or value.get(
        "__MONOTONIC_TIMESTAMP"
    )
    boot_us = number(boot)
    is_since_boot = boot_us is not None and boot_us >= 0 and boot_us in _MICROSECONDS
    return (
        int(entry.place.rpartition(" ")[2]),
        entry.place,
        message,
        text(value.get("_HOSTNAME")) or None,
        time_us * 1_000,
        boot_us * 1_000 if boot_us is not None and is_since_boot else None,
    )


def _message(value: object) -> str:
    """Return a message on one line: a text, an array of its bytes, or several texts."""
    parts = items(value)
    if parts and all(type(one) is int and one in _BYTE for one in parts):
        found = bytes(int(str(one)) for one in parts).decode(errors="replace")
    else:
        found = text(value) or " ".join(text(one) for one in parts)
    return " ".join(found.splitlines())


def _frame(told: list[tuple[object, ...]]) -> pl.DataFrame:
    """Return what the kernel's messages tell, those that tell of something."""
    frame = pl.DataFrame(told, schema=_COLUMNS, orient="row")
    return told_by(frame.with_columns(time_quality=pl.lit("exact")))


SOURCE: Final = Source(
    name="journald",
    version=3,
    describes="systemd journal (journalctl -o json, json-seq, json-pretty, export):"
    " the kernel's messages",
    tables=(Failures,),
    options=frozenset({"cluster"}),
    recognizes=recognizes,
    read=read,
)
