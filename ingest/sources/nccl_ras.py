"""What NCCL's RAS tells: `ncclras -f json`, and the events of its monitor mode.

* A poll tells of each communicator which ranks answered, and how many collectives of
  each kind they have launched. Ranks are positions in their communicator; the global
  rank is in no field. A group is known by the hash that Inspector prints, too.
* Counts are of one moment while the ranks run: ranks of a healthy group differ, too.
  Only a group that makes no progress over several polls hangs.
* A rank that is dead or does not respond is a failure of its process, told once for as
  long as polls repeat it, however many groups it is in. Hosts are addresses.
* Stamps are local and name no zone.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._kineto.rows import trace_id
from ingest.sources._nccl.ras_documents import Document, Repairs, documents
from ingest.sources._nccl.ras_facts import Poll, Row, stamp_ns
from ingest.sources._nccl.ras_failures import Told, event_row, failure_rows
from ingest.sources._nccl.ras_status import status_rows
from ingest.sources._source import Batch, Head, Reading, Refusal, Source
from ingest.tables import Failures, GroupStatus, Table

_POLL: Final = ('"communicators_count"', '"communicators"', '"nccl_version"')

_EVENT: Final = re.compile(
    r'\{\s*"timestamp"\s*:\s*"[^"]{1,40}"\s*,\s*"group"\s*:\s*"(?:LIFECYCLE|TRACE)"\s*,'
    r'\s*"event"\s*:'
)


def recognizes(head: Head) -> bool:
    """Return whether a file begins with a poll, or has an event of the monitor."""
    text = head.text.lstrip("\0 \t\r\n")
    if "{" not in text:
        return False
    return all(key in text for key in _POLL) or bool(_EVENT.search(text))


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read polls and events, in the order in which they were written."""
    number, told = 0, Told()
    for document in documents(stream):
        if isinstance(document, Repairs):
            yield Batch(repairs=document.lines)
        else:
            number += 1
            yield _batch(document, number, told, reading)


def _batch(document: Document, number: int, told: Told, reading: Reading) -> Batch:
    value = document.value
    if value is None:
        return _refused(document, document.rule or "json")
    time_ns = stamp_ns(value.get("timestamp"), reading)
    quality = "zone_assumed" if reading.zone_basis == "assumed" else "exact"
    poll = Poll(f"{trace_id(reading)} {number}", document.place, time_ns, quality)
    if "event" in value:
        row = event_row(value, poll)
        return _found([], told.numbered([row] if row else []), [], poll, reading)
    if not isinstance(value.get("communicators"), list):
        return _refused(document, "communicators|required")
    rows = list(status_rows(value, poll))
    rules = [row for row in rows if isinstance(row, str)]
    statuses = [row for row in rows if not isinstance(row, str)]
    failures = told.new(list(failure_rows(value, poll)))
    return _found(statuses, told.numbered(failures), rules, poll, reading)


def _found(
    statuses: list[Row],
    failures: list[Row],
    rules: list[str],
    poll: Poll,
    reading: Reading,
) -> Batch:
    refused = tuple(Refusal(GroupStatus, poll.place, rule, "") for rule in rules)
    return Batch(
        rows=_frames(statuses, failures, reading),
        refused=refused,
        records=max(1, len(statuses) + len(failures) + len(rules)),
        zone_used=poll.time_ns is not None,
    )


def _refused(document: Document, rule: str) -> Batch:
    hint = "expected a poll with communicators, or an event of the monitor"
    refusal = Refusal(GroupStatus, document.place, rule, document.raw, hint)
    return Batch(refused=(refusal,), records=1)


def _frames(
    statuses: list[Row], failures: list[Row], reading: Reading
) -> dict[type[Table], pl.DataFrame]:
    """Return rows as frames of their tables."""
    found: dict[type[Table], pl.DataFrame] = {}
    if statuses:
        run = pl.lit(reading.run_id).alias("run_id")
        found[GroupStatus] = _frame(GroupStatus, statuses).with_columns(run)
    if failures:
        found[Failures] = _frame(Failures, failures).with_columns(
            cluster=pl.lit(reading.cluster),
            source=pl.lit("application"),
            component=pl.lit("software"),
            inferred=pl.lit(value=False),
            line_count=pl.lit(1, pl.Int64),
        )
    return found


def _frame(table: type[Table], rows: list[Row]) -> pl.DataFrame:
    types = {**pl.Schema(table), "place": pl.String()}
    return pl.DataFrame(rows, schema={name: types[name] for name in rows[0]})


SOURCE: Final = Source(
    name="nccl-ras",
    version=1,
    describes="JSON of NCCL's RAS: polls of ncclras, and events of its monitor",
    tables=(GroupStatus, Failures),
    options=frozenset({"zone", "run_id", "cluster"}),
    recognizes=recognizes,
    read=read,
)
