"""Events of Kubernetes: `kubectl get events -o json`, a watch, or lines of an exporter.

Both schemas (v1 and events.k8s.io/v1) are read, as a list, as objects one after the
other, or wrapped in what a watch sends.

* A warning is a row; what is normal is none, a node that is not ready and a pod that
  was preempted aside. A warning about anything but a node whose reason is not known is
  a notice: it is listed and never blamed.
* An event stands for all its repeats: `line_count` is how many there were, `time_ns`
  the first and `end_ns` the last of them. Of an event that is told again as its count
  grows, the last state is the row.
* A message that quotes the driver's own line of an Xid or SXid is that.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from ingest.sources._failure_rows import (
    Event,
    FailureRows,
    Meaning,
    sxid_meaning,
    xid_meaning,
)
from ingest.sources._failure_words import (
    fields,
    gpu_in,
    number,
    rfc3339_ns,
    switch_in,
    sxid_in,
    text,
    xid_in,
)
from ingest.sources._json_records import JsonObject, Record, json_records
from ingest.sources._kubernetes_reasons import NORMAL_FAILURES, REASONS, Reason
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import Failures

_OBJECT: Final = re.compile(r'"(?:involvedObject|regarding)"\s*:\s*\{')
_REASON: Final = re.compile(r'"reason"\s*:|"apiVersion"\s*:\s*"(?:v1|events\.k8s\.io)')

#: Keys of a document whose lists hold events.
_LISTS: Final = frozenset({"items"})

#: What a watch sends that is no event.
_NO_EVENTS: Final = ("BOOKMARK", "ERROR")


def recognizes(head: Head) -> bool:
    """Return whether the head holds an object with the fields of an event."""
    data = head.text
    starts = data.lstrip("\x1e \t\r\n").startswith(("{", "["))
    return starts and bool(_OBJECT.search(data)) and bool(_REASON.search(data))


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read events; of those with an identity the last state counts."""
    rows = FailureRows(reading)
    latest: dict[str, Event] = {}
    for records in json_records(stream, Failures, _LISTS):
        rows.keep(records.refused)
        for record in records.found:
            _take(record, rows, latest)
        yield rows.take(records.seen, records.repairs)
    for event in latest.values():
        rows.add(event)
    yield rows.take(0, 0)


def _take(record: Record, rows: FailureRows, latest: dict[str, Event]) -> None:
    value = _unwrapped(record.value)
    if value is None:
        return
    reason = text(value.get("reason"))
    if not reason or not _object(value):
        missing = "involvedObject" if reason else "reason"
        rows.refuse(record.place, f"{missing}|required", record.raw)
        return
    if not _tells_of_failure(value, reason):
        return
    event = _event(value, reason, record.place)
    uid = text(fields(value.get("metadata")).get("uid"))
    if uid:
        latest.pop(uid, None)
        latest[uid] = event
    else:
        rows.add(event)


def _unwrapped(value: JsonObject) -> JsonObject | None:
    """Return the event in what a watch or an exporter puts around it."""
    kind = text(value.get("type"))
    for key in ("object", "event"):
        inner = value.get(key)
        if isinstance(inner, dict):
            return None if kind in _NO_EVENTS else inner
    return None if "items" in value or kind in _NO_EVENTS else value


def _object(value: JsonObject) -> JsonObject:
    return fields(value.get("involvedObject")) or fields(value.get("regarding"))


def _tells_of_failure(value: JsonObject, reason: str) -> bool:
    return text(value.get("type")) == "Warning" or reason in NORMAL_FAILURES


def _event(value: JsonObject, reason: str, place: str) -> Event:
    about = _object(value)
    kind, name = text(about.get("kind")), text(about.get("name"))
    message = text(value.get("message")) or text(value.get("note"))
    quoted = _quoted(message)
    first, last = _times(value)
    return Event(
        place=place,
        meaning=quoted or _meaning(reason, kind),
        host=name if kind == "Node" else _reporter(value),
        gpu_key=gpu_in(message) if quoted else None,
        time_ns=first,
        end_ns=last if last != first else None,
        message=message or reason,
        line_count=_count(value),
        part=switch_in(message) or (None if kind == "Node" else _path(kind, about)),
    )


def _quoted(message: str) -> Meaning | None:
    """Return what the driver's own line in a message means, None without one."""
    if code := xid_in(message):
        return xid_meaning(code)
    found = sxid_in(message)
    return sxid_meaning(*found) if found else None


def _meaning(reason: str, kind: str) -> Meaning:
    """Return what a reason means, given what the event is about."""
    of_node = kind == "Node"
    known = REASONS.get(reason) or Reason(
        f"warning about a {kind.lower() or 'thing'}",
        "host" if of_node else "application",
        "warning" if of_node else "info",
    )
    return Meaning("health" if of_node else "scheduler", reason, *known)


def _path(kind: str, about: JsonObject) -> str:
    names = (kind, text(about.get("namespace")), text(about.get("name")))
    return "/".join(name for name in names if name)


def _reporter(value: JsonObject) -> str | None:
    """Return the node whose kubelet reported an event, None of another reporter."""
    for key in ("source", "deprecatedSource"):
        if host := text(fields(value.get(key)).get("host")):
            return host
    by = text(value.get("reportingComponent")) or text(value.get("reportingController"))
    return text(value.get("reportingInstance")) or None if by == "kubelet" else None


def _times(value: JsonObject) -> tuple[int | None, int | None]:
    """Return when an event was first and last seen. [ns]"""
    series, meta = fields(value.get("series")), fields(value.get("metadata"))
    firsts = (
        value.get("firstTimestamp"),
        value.get("deprecatedFirstTimestamp"),
        value.get("eventTime"),
        meta.get("creationTimestamp"),
    )
    lasts = (
        series.get("lastObservedTime"),
        value.get("lastTimestamp"),
        value.get("deprecatedLastTimestamp"),
    )
    first = next((ns for one in firsts if (ns := rfc3339_ns(one)) is not None), None)
    last = next((ns for one in lasts if (ns := rfc3339_ns(one)) is not None), None)
    return (last if first is None else first), (first if last is None else last)


def _count(value: JsonObject) -> int:
    counts = (
        fields(value.get("series")).get("count"),
        value.get("count"),
        value.get("deprecatedCount"),
    )
    return next((n for one in counts if (n := number(one)) and n > 0), 1)


SOURCE: Final = Source(
    name="kubernetes-events",
    version=3,
    describes="events of Kubernetes (v1 and events.k8s.io/v1): lists, watches, lines",
    tables=(Failures,),
    options=frozenset({"cluster"}),
    recognizes=recognizes,
    read=read,
)
