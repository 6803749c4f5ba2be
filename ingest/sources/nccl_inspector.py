"""JSON lines of NCCL Inspector: one file for each process.

`<host>-pid<pid>.log` (NCCL, plugins/profiler/inspector). What a line holds is told by
its keys: the version in it did not change with them.

* A line is a collective that has ended: its size and how long it took, waiting for the
  others included. The shortest time among the ranks is that of the transfer; what the
  others took longer they waited.
* Only a verbose log has times of start and end, and they are the host's. Else
  `start_ns` is null, and `recorded_ns` says when the line was written, which may be
  much later.
* A rank is a position in its communicator, and the global rank is in no field: `rank`
  is null, `rank_in_group` and `host` are told. The group is the communicator's hash,
  which RAS prints, too. Numbers count for each group and kind.
* Sizes of an all-gather and a reduce-scatter are those of one rank; here they are those
  of the whole message, as everywhere.
* Inspector keeps the last collectives of a ring, and drops the rest: a number that is
  missing was not recorded, and says nothing of a hang.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

import msgspec
import polars as pl

from ingest.communication import KINDS, parallel_kind
from ingest.phrases import phrase
from ingest.sources._kineto.rows import trace_id
from ingest.sources._lines import Block, blocks, refuse
from ingest.sources._lines_json import decode, head_records
from ingest.sources._nccl.inspector_records import (
    GREATEST,
    SCHEMA,
    TEXTS,
    Line,
    row_of,
)
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import Collectives

_HEADER: Final = frozenset({"id", "rank", "n_ranks"})

#: Kinds of which Inspector tells the size of one rank.
_PER_RANK: Final = ("allgather", "allgatherv", "reducescatter")

#: Kinds between two ranks.
_PAIRED: Final = ("send", "recv")

#: What a communicator is called that the application gave no name.
_UNNAMED: Final = "unknown"


def recognizes(head: Head) -> bool:
    """Return whether a line has the header and the mark of Inspector's writer."""
    for record in head_records(head):
        header, metadata = record.get("header"), record.get("metadata")
        if isinstance(header, dict) and isinstance(metadata, dict):
            marked = "inspector_output_format_version" in metadata
            if header.keys() >= _HEADER and (marked or "coll_perf" in record):
                return True
    return False


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a log."""
    decoder = msgspec.json.Decoder(Line)
    for block in blocks(stream):
        yield _batch(block, decoder, reading)


def _batch(
    block: Block, decoder: msgspec.json.Decoder[Line], reading: Reading
) -> Batch:
    records, refused = decode(block, decoder, Collectives)
    seen = len(records) + len(refused)
    rows: list[tuple[object, ...]] = []
    for record in records:
        row = row_of(record)
        if isinstance(row, str):
            refused.append(refuse(Collectives, record.number, row, record.line))
        elif row is not None:
            rows.append(row)
    return Batch(
        rows={Collectives: _frame(rows, reading)} if rows else {},
        refused=tuple(refused),
        records=seen,
        repairs=block.repairs,
    )


def _frame(rows: list[tuple[object, ...]], reading: Reading) -> pl.DataFrame:
    types = {name: pl.String() if name in TEXTS else pl.Int64() for name in SCHEMA}
    told = pl.DataFrame(rows, schema=types, orient="row")
    name = pl.col("name").str.to_lowercase().str.replace_all("_", "", literal=True)
    purpose = pl.when(pl.col("comm_name") != _UNNAMED).then("comm_name")
    named = told.with_columns(kind=name.replace(dict(KINDS)))
    return named.select(
        *("event", "host", "group_id", "group_size", "kind", "algorithm"),
        *("sequence", "p2p_sequence", "enqueue_ns", "start_ns", "end_ns"),
        *("duration_ns", "recorded_ns"),
        pl.col("rank_in_group", "peer_in_group").cast(pl.Int32),
        pl.lit(reading.run_id).alias("run_id"),
        pl.lit(trace_id(reading)).alias("trace_id"),
        parallel_kind(purpose).alias("parallel_kind"),
        pl.col("kind").is_in(_PAIRED).alias("is_p2p"),
        pl.lit("sequence").alias("match_method"),
        _bytes_total().alias("bytes_total"),
        pl.lit("cpu").alias("time_basis"),
        pl.lit("completed").alias("state"),
        phrase("line {}", "event").alias("place"),
    )


def _bytes_total() -> pl.Expr:
    size, ranks = pl.col("size"), pl.col("group_size")
    fits = size <= GREATEST // ranks
    of_all = pl.when(fits).then(size * ranks)
    return pl.when(pl.col("kind").is_in(_PER_RANK)).then(of_all).otherwise(size)


SOURCE: Final = Source(
    name="nccl-inspector",
    version=2,
    describes="JSON lines of NCCL Inspector, one file per process",
    tables=(Collectives,),
    options=frozenset({"run_id"}),
    recognizes=recognizes,
    read=read,
)
