"""Records of veScale's NDTimeline: JSON lines, one per rank, metric and flush.

    {"ts": 1772442049.2, "rank": 3, "metric": "forward-compute", "step": 12,
     "start_ts": [1772442049.2000011, ...], "duration": [0.1402, ...],
     "model_chunk": 0, "stage": 1, "dp_rank": 0, "tp_rank": 1, "ip": "10.0.0.1", ...}

* Every start has its duration: a record whose lists are of other lengths is refused.
* `step` is the step of the record, or `iteration` where there is no such field.
* Starts are seconds since the epoch, by clocks that the tool has aligned. They are read
  as they are written, digit by digit: a float64 would be off by 100 ns.
* The micro-batch is not told; operations of a record are numbered in `sequence`.
"""

from collections.abc import Iterator
from typing import Annotated, Any, BinaryIO, Final

import msgspec
import polars as pl

from ingest.phrases import phrase
from ingest.sources import _operations as operations
from ingest.sources._lines import blocks
from ingest.sources._lines_json import Record, decode, head_records
from ingest.sources._source import Batch, Head, Reading, Refusal, Source
from ingest.sources._stamps import decimal_ns
from ingest.tables import Operations
from ingest.times import SECOND_NS

#: An integer that 64 bits hold.
_Number = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

_FIELDS: Final = frozenset({"rank", "metric", "start_ts", "duration"})


class _Record(msgspec.Struct):
    """A record; numbers that become times are kept as they are written."""

    rank: _Number
    metric: str
    start_ts: list[msgspec.Raw]
    duration: list[msgspec.Raw]
    step: _Number | None = None
    iteration: _Number | None = None
    model_chunk: _Number | None = None
    stage: _Number | None = None
    dp_rank: _Number | None = None
    tp_rank: _Number | None = None


def recognizes(head: Head) -> bool:
    """Return whether a line has the fields of a record, its times in lists."""
    return any(
        record.keys() >= _FIELDS and isinstance(record["start_ts"], list)
        for record in head_records(head)
    )


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read records, each line alone."""
    decoder = msgspec.json.Decoder(_Record)
    for block in blocks(stream):
        records, refused = decode(block, decoder, Operations)
        seen = len(records) + len(refused)
        whole = [r for r in records if _fault(r) is None]
        refused += [_refusal(r, fault) for r in records if (fault := _fault(r))]
        found = _batch(whole, reading)
        yield Batch(
            rows=found.rows,
            refused=(*refused, *found.refused),
            records=seen,
            repairs=block.repairs,
        )


def _fault(record: Record[_Record]) -> str | None:
    value = record.value
    if value.step is None and value.iteration is None:
        return "step|required"
    if len(value.start_ts) != len(value.duration):
        return "duration|count"
    return None


def _refusal(record: Record[_Record], rule: str) -> Refusal:
    raw = record.line.decode("utf-8", errors="replace")
    return Refusal(Operations, f"line {record.number}", rule, raw)


def _batch(records: list[Record[_Record]], reading: Reading) -> Batch:
    if not records:
        return Batch()
    frame = pl.DataFrame([_cells(r) for r in records], schema=_SCHEMA, orient="row")
    position = pl.int_ranges(pl.col("start").list.len()).alias("sequence")
    each = frame.with_columns(position).explode(
        "start", "length", "sequence", empty_as_null=False
    )
    rows = each.select(
        pl.exclude("start", "length", "number"),
        start_ns=decimal_ns(pl.col("start"), SECOND_NS),
        duration_ns=decimal_ns(pl.col("length"), SECOND_NS),
        place=phrase("line {} entry {}", "number", pl.col("sequence") + 1),
        raw=phrase("start {} duration {}", "start", "length"),
    )
    rules = {
        "start_ts|number": pl.col("start_ns").is_null(),
        "duration|number": pl.col("duration_ns").is_null(),
    }
    return operations.batch(rows, rules, reading, each.height)


_SCHEMA: Final = pl.Schema(
    {
        "number": pl.Int64(),
        "rank": pl.Int64(),
        "kind": pl.String(),
        "step": pl.Int64(),
        "chunk": pl.Int64(),
        "pp_rank": pl.Int64(),
        "dp_rank": pl.Int64(),
        "tp_rank": pl.Int64(),
        "start": pl.List(pl.String()),
        "length": pl.List(pl.String()),
    }
)


def _cells(record: Record[_Record]) -> tuple[Any, ...]:
    value = record.value
    return (
        record.number,
        value.rank,
        value.metric,
        value.iteration if value.step is None else value.step,
        value.model_chunk,
        value.stage,
        value.dp_rank,
        value.tp_rank,
        [bytes(raw).decode() for raw in value.start_ts],
        [bytes(raw).decode() for raw in value.duration],
    )


SOURCE: Final = Source(
    name="ndtimeline",
    version=1,
    describes="records of veScale's NDTimeline, JSON lines",
    tables=(Operations,),
    options=frozenset({"run_id"}),
    recognizes=recognizes,
    read=read,
)
