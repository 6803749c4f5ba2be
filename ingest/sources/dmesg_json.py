"""Kernel messages of `dmesg --json` (util-linux 2.38 and later).

An object around a list of messages with their priority and the seconds since boot; a
stamp instead where another time format was asked for. The node is not told. Times since
boot are placed on the clock where the kernel told it at its start.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._failure_words import rfc3339_ns, text
from ingest.sources._json_records import Record, json_records
from ingest.sources._kernel.events import events_of, refusals_of, told_by
from ingest.sources._kernel.storms import thin_entries
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import Failures
from ingest.times import SECOND_NS

#: Longest time since boot: nine digits of seconds are 31 years. [s]
LONGEST_S: Final = 999_999_999

_LIST: Final = re.compile(r'"dmesg"\s*:\s*\[')
_FIELDS: Final = re.compile(r'"pri"\s*:|"msg"\s*:')
_LISTS: Final = frozenset({"dmesg"})

_COLUMNS: Final = {
    "number": pl.Int64,
    "place": pl.String,
    "line": pl.String,
    "time_ns": pl.Int64,
    "boot_offset_ns": pl.Int64,
}


def recognizes(head: Head) -> bool:
    """Return whether the head is an object around a list of kernel messages."""
    data = head.text
    starts = data.lstrip().startswith("{")
    return starts and bool(_LIST.search(data)) and bool(_FIELDS.search(data))


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the failures among the messages."""
    kept: list[pl.DataFrame] = []
    before = 0
    for records in json_records(stream, Failures, _LISTS):
        told = [_told(n, one) for n, one in enumerate(records.found, before)]
        before += len(told)
        kept.append(thin_entries(_frame(told)))
        yield Batch(
            refused=tuple(records.refused),
            records=records.seen,
            repairs=records.repairs,
        )
    events = events_of(thin_entries(pl.concat(kept or [_frame([])])), reading)
    rows = events.filter(pl.col("rule").is_null()).drop("rule", "naive")
    yield Batch({Failures: rows} if len(rows) else {}, refusals_of(events))


def _told(number: int, record: Record) -> tuple[object, ...]:
    value = record.value
    message = " ".join(text(value.get("msg")).splitlines())
    time = value.get("time")
    return (number, record.place, message, rfc3339_ns(time), _boot_ns(time))


def _boot_ns(value: object) -> int | None:
    """Return seconds since boot, as their digits were written. [ns]"""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if not 0 <= value <= LONGEST_S:
        return None
    return int(Decimal(repr(value)) * SECOND_NS)


def _frame(told: list[tuple[object, ...]]) -> pl.DataFrame:
    frame = pl.DataFrame(told, schema=_COLUMNS, orient="row")
    quality = (
        pl.when(pl.col("time_ns").is_not_null())
        .then(pl.lit("exact"))
        .when(pl.col("boot_offset_ns").is_not_null())
        .then(pl.lit("boot_relative"))
        .otherwise(pl.lit("unknown"))
    )
    return told_by(
        frame.with_columns(time_quality=quality, host=pl.lit(None, pl.String))
    )


SOURCE: Final = Source(
    name="dmesg-json",
    version=3,
    describes="kernel messages of `dmesg --json`",
    tables=(Failures,),
    options=frozenset({"cluster"}),
    recognizes=recognizes,
    read=read,
)
