"""Answers of gpud (leptonai/gpud, api/v1): `/v1/events`, `/v1/states`, `/v1/info`.

* An event is a row, with the type that gpud gave it; what is only information is a
  notice.
* A state is a row where it is unhealthy or degraded: gpud tells it again each time it
  is asked, so a file of many answers holds it once for each time.
* Xids keep their code. The answers do not name their node.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from ingest.sources._failure_rows import Event, FailureRows
from ingest.sources._failure_words import fields, items, rfc3339_ns, text
from ingest.sources._gpud_meanings import (
    as_given,
    event_meaning,
    gpu_of,
    state_meaning,
    switch_of,
    words_of,
)
from ingest.sources._json_records import JsonObject, Record, json_records
from ingest.sources._source import RAW_CHARACTERS, Batch, Head, Reading, Source
from ingest.tables import Failures

_COMPONENT: Final = re.compile(r'"component"\s*:\s*"')
_EVENTS: Final = re.compile(r'"startTime"\s*:.*"(?:events|info)"\s*:', re.DOTALL)
_STATES: Final = re.compile(
    r'"states"\s*:\s*\[.*"health"\s*:'
    r'\s*"(?:Healthy|Unhealthy|Degraded|Initializing)"',
    re.DOTALL,
)

#: States that are rows.
_ILL: Final = ("Unhealthy", "Degraded")


def recognizes(head: Head) -> bool:
    """Return whether the head is a list of components with events or states."""
    data = head.text
    starts = data.lstrip().startswith(("[", "{"))
    told = _EVENTS.search(data) or _STATES.search(data)
    return starts and bool(_COMPONENT.search(data)) and bool(told)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the events and the states of every component."""
    rows = FailureRows(reading)
    for records in json_records(stream, Failures):
        rows.keep(records.refused)
        seen = sum(_take(record, rows) for record in records.found)
        yield rows.take(seen + len(records.refused), records.repairs)


def _take(record: Record, rows: FailureRows) -> int:
    """Take what one component tells; return how many records that were."""
    value = record.value
    component = text(value.get("component"))
    if not component:
        rows.refuse(record.place, "component|required", record.raw)
        return 1
    told = {**fields(value.get("info")), **value}
    seen = 0
    for key in ("events", "states"):
        for number_, one in enumerate(items(told.get(key)), 1):
            place = f"{record.place}, {key} {number_}"
            seen += 1
            if isinstance(one, dict):
                _add(one, component, place, rows)
            else:
                rows.refuse(place, "type", repr(one)[:100])
    return seen or 1


def _add(one: JsonObject, component: str, place: str, rows: FailureRows) -> None:
    is_event = "health" not in one
    if not is_event and one["health"] not in _ILL:
        return
    if is_event and not text(one.get("name")):
        rows.refuse(place, "name|required", repr(one)[:RAW_CHARACTERS])
        return
    of = text(one.get("component")) or component
    words = words_of(one)
    meaning = event_meaning(one, of, words) if is_event else state_meaning(of)
    rows.add(
        Event(
            place=place,
            meaning=as_given(one, meaning),
            time_ns=rfc3339_ns(one.get("time")),
            gpu_key=gpu_of(one, words),
            message=words or of,
            part=switch_of(one, words),
        )
    )


SOURCE: Final = Source(
    name="gpud",
    version=3,
    describes="gpud's answers in JSON: events and health states of a node's components",
    tables=(Failures,),
    options=frozenset({"cluster"}),
    recognizes=recognizes,
    read=read,
)
