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
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._kineto.rows import trace_id
from ingest.sources._nccl.ras_documents import Document, Repairs, documents
from ingest.sources._nccl.ras_facts import Poll, Row, stamp_of
from ingest.sources._nccl.ras_failures import Told, event_row, failure_rows
from ingest.sources._nccl.ras_status import status_rows
from ingest.sources._source import Batch, Head, Reading, Refusal, Source
from ingest.tables import Failures, GroupStatus, Table
from ingest.times import naive_to_ns

#: Records handed on at a time, some 10 MB as rows; a document is not divided.
BATCH_RECORDS: Final = 10_000

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
    number, told, found = 0, Told(), _Found()
    for document in documents(stream):
        if isinstance(document, Repairs):
            found.repairs += document.lines
        else:
            number += 1
            _take(document, f"{trace_id(reading)} {number}", told, found, reading.zone)
        if found.records >= BATCH_RECORDS:
            yield found.batch(reading)
            found = _Found()
    yield found.batch(reading)


@dataclass(slots=True)
class _Found:
    """What some documents tell.

    Attributes:
        statuses: Rows of GroupStatus, their time a stamp.
        failures: Rows of Failures, their time a stamp.
        refused: What could not become a row.
        records: Records of any kind. [1]
        repairs: Repairs that reading needed. [1]
    """

    statuses: list[Row] = field(default_factory=list)
    failures: list[Row] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    records: int = 0
    repairs: int = 0

    def refuse(self, document: Document, rule: str) -> None:
        """Refuse a document."""
        hint = "expected a poll with communicators, or an event of the monitor"
        self.refused.append(
            Refusal(GroupStatus, document.place, rule, document.raw, hint)
        )
        self.records += 1

    def batch(self, reading: Reading) -> Batch:
        """Return all of it as a batch."""
        frames = _frames(self.statuses, self.failures, reading)
        return Batch(
            rows=frames,
            refused=tuple(self.refused),
            records=self.records,
            repairs=self.repairs,
            zone_used=any(f["time_ns"].is_not_null().any() for f in frames.values()),
        )


def _take(
    document: Document, dump_id: str, told: Told, found: _Found, zone: tzinfo
) -> None:
    """Take what a document tells."""
    value = document.value
    if value is None:
        found.refuse(document, document.rule or "json")
        return
    poll = Poll(dump_id, document.place, stamp_of(value.get("timestamp"), zone))
    statuses: list[Row | str] = []
    if "event" in value:
        row = event_row(value, poll)
        failures = told.numbered([row] if row else [])
    elif not isinstance(value.get("communicators"), list):
        found.refuse(document, "communicators|required")
        return
    else:
        statuses = list(status_rows(value, poll))
        failures = told.numbered(told.new(list(failure_rows(value, poll))))
    rules = [row for row in statuses if isinstance(row, str)]
    found.statuses += [row for row in statuses if not isinstance(row, str)]
    found.failures += failures
    found.refused += [Refusal(GroupStatus, poll.place, rule, "") for rule in rules]
    found.records += max(1, len(statuses) + len(failures))


def _frames(
    statuses: list[Row], failures: list[Row], reading: Reading
) -> dict[type[Table], pl.DataFrame]:
    """Return rows as frames of their tables."""
    found: dict[type[Table], pl.DataFrame] = {}
    if statuses:
        found[GroupStatus] = _frame(GroupStatus, statuses, reading).with_columns(
            run_id=pl.lit(reading.run_id)
        )
    if failures:
        found[Failures] = _frame(Failures, failures, reading).with_columns(
            pl.col("time_quality").fill_null("unknown"),
            cluster=pl.lit(reading.cluster),
            source=pl.lit("application"),
            component=pl.lit("software"),
            inferred=pl.lit(value=False),
            line_count=pl.lit(1, pl.Int64),
        )
    return found


def _frame(table: type[Table], rows: list[Row], reading: Reading) -> pl.DataFrame:
    types = {**pl.Schema(table), "place": pl.String(), "time_ns": pl.Datetime("us")}
    frame = pl.DataFrame(rows, schema={name: types[name] for name in rows[0]})
    quality = "zone_assumed" if reading.zone_basis == "assumed" else "exact"
    return frame.with_columns(
        naive_to_ns(pl.col("time_ns"), reading.zone)
    ).with_columns(
        time_quality=pl.when(pl.col("time_ns").is_not_null()).then(pl.lit(quality))
    )


SOURCE: Final = Source(
    name="nccl-ras",
    version=1,
    describes="JSON of NCCL's RAS: polls of ncclras, and events of its monitor",
    tables=(GroupStatus, Failures),
    options=frozenset({"zone", "run_id", "cluster"}),
    recognizes=recognizes,
    read=read,
)
