"""Health events of NVSentinel (NVIDIA/NVSentinel, health_event.proto) as JSON.

Lines, lists, documents of its database (`healthevent`, keys in lower case) and
CloudEvents are read. An event that reports health is no row. Xids keep their code; an
event with several codes is a row for each.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from ingest.sources._failure_rows import FailureRows
from ingest.sources._failure_words import items, text
from ingest.sources._json_records import JsonObject, Record, json_records
from ingest.sources._nvsentinel_events import event_of, lower
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import Failures

_CHECK: Final = re.compile(r'(?i)"checkname"\s*:')
_FIELDS: Final = re.compile(r'(?i)"(?:componentclass|isfatal|entitiesimpacted)"\s*:')
_LISTS: Final = frozenset({"events", "Events"})


def recognizes(head: Head) -> bool:
    """Return whether the head has the keys of a health event."""
    data = head.text
    starts = data.lstrip().startswith(("{", "["))
    return starts and bool(_CHECK.search(data)) and bool(_FIELDS.search(data))


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read every health event."""
    rows = FailureRows(reading)
    for records in json_records(stream, Failures, _LISTS):
        rows.keep(records.refused)
        for record in records.found:
            _take(record, rows)
        yield rows.take(records.seen, records.repairs)


def _take(record: Record, rows: FailureRows) -> None:
    event = _unwrapped(record.value)
    check = text(event.get("checkname"))
    if not check:
        rows.refuse(record.place, "checkName|required", record.raw)
        return
    if event.get("ishealthy") is True:
        return
    codes = [str(code) for code in items(event.get("errorcode")) if str(code)]
    for code in codes or [""]:
        rows.add(event_of(event, check, code, record.place))


def _unwrapped(value: JsonObject) -> JsonObject:
    """Return the event in what a database or a CloudEvent puts around it."""
    event = lower(value)
    for key in ("data", "healthevent"):
        if isinstance(event.get(key), dict):
            event = lower(event[key])
    return event


SOURCE: Final = Source(
    name="nvsentinel",
    version=3,
    describes="health events of NVSentinel in JSON: lines, lists, database documents",
    tables=(Failures,),
    options=frozenset({"cluster"}),
    recognizes=recognizes,
    read=read,
)
