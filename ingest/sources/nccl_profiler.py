"""Traces of NCCL's example profiler plugin: `<prefix>-<host>-<thread>.txt`.

* A trace is an array of events in Chrome's format, one a line. It ends in `{}]`, or in
  the middle where the process was killed.
* Its times count from the start of the profiler, not from the epoch. A kernel carries
  the GPU's own clock, which does: start and end of a collective are the first start and
  the last end of its channels. Without them only its length is known, by the host.
* A stop of 0, or before the start, is unknown. A zero is no time, either.
* Builds that print names and addresses without quotes are mended, line by line.
* The group is the communicator's hash, and ranks are positions in it. How many ranks it
  has is in no event: sizes of kinds that depend on it are null.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import msgspec
import polars as pl

from ingest.communication import KINDS, element_bytes
from ingest.phrases import phrase
from ingest.sources._kineto.rows import trace_id
from ingest.sources._lines import TRUNCATED, Block, blocks, refuse
from ingest.sources._nccl.profiler_events import (
    GREATEST,
    Operation,
    Operations,
    decode,
)
from ingest.sources._source import Batch, Head, Reading, Refusal, Source
from ingest.tables import Collectives

_EVENT: Final = re.compile(
    r'"cat": "(?:GROUP_API|COLL_API|P2P_API|KERNEL_LAUNCH|GROUP|COLL|P2P|PROXY)",'
    r' "ph": "[be]"'
)

#: Kinds whose size does not depend on the number of ranks.
_WHOLE: Final = ("allreduce", "broadcast", "reduce", "send", "recv")

_PAIRED: Final = ("send", "recv")

#: Greatest position of a rank.
_GREATEST_RANK: Final = (1 << 31) - 1

_SCHEMA: Final = {
    **dict.fromkeys(("event", "sequence", "count"), pl.Int64),
    **dict.fromkeys(("start_ns", "end_ns", "duration_ns"), pl.Int64),
    **dict.fromkeys(("rank_in_group", "peer_in_group"), pl.Int32),
    **dict.fromkeys(("group_id", "name", "dtype", "algorithm"), pl.String),
    **dict.fromkeys(("time_basis", "state"), pl.String),
}

_Row = dict[str, object]


def recognizes(head: Head) -> bool:
    """Return whether an array has the categories of the profiler."""
    return head.text.lstrip().startswith("[") and bool(_EVENT.search(head.text))


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a trace. An operation stays open from one batch to the next."""
    operations = Operations()
    for block in blocks(stream):
        yield _batch(block, operations, reading)
    yield _told([operation] if (operation := operations.close()) else [], [], reading)


def _batch(block: Block, operations: Operations, reading: Reading) -> Batch:
    complete: list[Operation] = []
    refused: list[Refusal] = []
    before, records, repairs = operations.repairs, 0, block.repairs
    for number, line in block.lines():
        text = line.strip(b"[], \t")
        if text in {b"", b"{}"}:
            continue
        records += 1
        try:
            event, mended = decode(text)
        except (msgspec.DecodeError, RecursionError) as error:
            is_last = block.cut_short and number == block.last
            rule = TRUNCATED if is_last else _rule(error)
            refused.append(refuse(Collectives, number, rule, line))
            continue
        repairs += mended
        if (done := operations.take(number, event)) is not None:
            complete.append(done)
    batch = _told(complete, refused, reading)
    repairs += operations.repairs - before
    return Batch(batch.rows, batch.refused, records, repairs)


def _rule(error: Exception) -> str:
    return "type" if isinstance(error, msgspec.ValidationError) else "json"


def _told(
    operations: list[Operation], refused: list[Refusal], reading: Reading
) -> Batch:
    rows: list[_Row] = []
    for operation in operations:
        if (row := _row(operation)) is not None:
            rows.append(row)
        else:
            name, number = operation.event.name, operation.number
            refused.append(refuse(Collectives, number, "group_id|required", name))
    return Batch(
        rows={Collectives: _frame(rows, reading)} if rows else {},
        refused=tuple(refused),
    )


def _row(operation: Operation) -> _Row | None:
    told = operation.event.args
    if told is None or told.CommHash in {None, "", 0} or not operation.event.name:
        return None
    start_ns, end_ns, duration_ns = operation.times()
    chosen = [part.upper() for part in (told.Algorithm, told.Protocol) if part]
    is_done = end_ns is not None or operation.ended is not None
    is_hash = isinstance(told.CommHash, int)
    return {
        "event": operation.number,
        "group_id": f"{told.CommHash:#x}" if is_hash else told.CommHash,
        "name": operation.event.name,
        "rank_in_group": _within(told.Rank, _GREATEST_RANK),
        "peer_in_group": _within(told.Peer, _GREATEST_RANK),
        "sequence": _within(told.SeqNum, GREATEST),
        "count": _within(told.Count, GREATEST // 16),
        "dtype": (told.Datatype or "").removeprefix("nccl").lower() or None,
        "algorithm": "_".join(chosen) or None,
        "start_ns": start_ns,
        "end_ns": end_ns,
        "duration_ns": duration_ns,
        "time_basis": "gpu" if operation.is_on_gpu else "cpu",
        "state": "completed" if is_done else "started",
    }


def _within(number: int | None, most: int) -> int | None:
    return number if number is not None and 0 <= number <= most else None


def _frame(rows: list[_Row], reading: Reading) -> pl.DataFrame:
    letters = pl.col("name").str.to_lowercase().str.replace_all("_", "", literal=True)
    told = pl.DataFrame(rows, schema=_SCHEMA).with_columns(
        kind=letters.replace(dict(KINDS))
    )
    size = pl.col("count") * element_bytes(pl.col("dtype"))
    is_whole = pl.col("kind").is_in(_WHOLE)
    method = pl.when(pl.col("sequence").is_not_null()).then(pl.lit("sequence"))
    return told.with_columns(
        run_id=pl.lit(reading.run_id),
        trace_id=pl.lit(trace_id(reading)),
        is_p2p=pl.col("kind").is_in(_PAIRED),
        match_method=method.otherwise(pl.lit("order")),
        bytes_total=pl.when(is_whole).then(size),
        place=phrase("line {}", "event"),
    ).drop("name", "count")


SOURCE: Final = Source(
    name="nccl-profiler",
    version=1,
    describes="traces of NCCL's example profiler plugin",
    tables=(Collectives,),
    options=frozenset({"run_id"}),
    recognizes=recognizes,
    read=read,
)
