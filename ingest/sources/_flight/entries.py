"""Collectives, from the entries of a Flight Recorder dump.

* Times are the host's: when it asked for the collective, and when the watchdog saw
  that it had started and ended. Only `duration_ms` is the GPU's.
* A send or receive names its peer by position in the group; here it is a global rank.
* Sizes of an all-to-all are those of the message only from version 2.4 on.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import polars as pl

from ingest.communication import collective_kind, message_size, parallel_kind
from ingest.phrases import phrase
from ingest.sources._flight.document import ALLTOALL_SIZES, Document
from ingest.sources._flight.groups import PAIR, Group, name_of
from ingest.sources._flight.sizes import Sizes
from ingest.sources._flight.values import (
    integer_of,
    milliseconds_of,
    shown,
    text_of,
    time_of,
)
from ingest.sources._kineto.rows import trace_id
from ingest.sources._source import Batch, Reading, Refusal
from ingest.tables import Collectives

#: Entries of a batch. [1]
_BATCH_ENTRIES: Final = 20_000

_STATES: Final = frozenset({"scheduled", "started", "completed"})

_SCHEMA: Final = {
    "event": pl.Int64,
    "profiling_name": pl.String,
    "group_id": pl.String,
    "purpose": pl.String,
    "group_size": pl.Int64,
    "is_p2p": pl.Boolean,
    "peer_rank": pl.Int64,
    "sequence": pl.Int64,
    "p2p_sequence": pl.Int64,
    "inward": pl.Int64,
    "outward": pl.Int64,
    "dtype": pl.String,
    "enqueue_ns": pl.Int64,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
    "duration_ns": pl.Int64,
    "state": pl.String,
}

#: Columns that others are made from.
_USED: Final = ("profiling_name", "purpose", "peer_rank", "inward", "outward")

_Row = dict[str, Any]


def read_entries(
    document: Document, groups: Mapping[str, Group], rank: int, reading: Reading
) -> Iterator[Batch]:
    """Yield the rows of a dump's entries.

    Args:
        document: The dump.
        groups: Its groups by name.
        rank: Global rank that wrote it.
        reading: The file.
    """
    sizes = Sizes()
    for begin in range(0, len(document.entries), _BATCH_ENTRIES):
        some = document.entries[begin : begin + _BATCH_ENTRIES]
        found = [_row(n, entry, groups, sizes) for n, entry in enumerate(some, begin)]
        rows = [row for row in found if not isinstance(row, str)]
        refused = [
            Refusal(Collectives, f"entry {begin + n}", rule, shown(some[n]))
            for n, rule in enumerate(found)
            if isinstance(rule, str)
        ]
        frame = _frame(rows, document.version, rank, reading)
        yield Batch(
            rows={} if frame.is_empty() else {Collectives: frame},
            refused=tuple(refused),
            records=len(some),
        )


def _row(
    number: int, entry: object, groups: Mapping[str, Group], sizes: Sizes
) -> _Row | str:
    """Return what an entry tells, or the rule that it breaks."""
    if not isinstance(entry, dict):
        return "entry|type"
    group = groups.get(name_of(entry)[0] or "")
    name, state = text_of(entry.get("profiling_name")), text_of(entry.get("state"))
    if group is None:
        return "group_id|required"
    if name is None:
        return "kind|required"
    if state not in _STATES:
        return "state|value"
    pair = PAIR.search(name)
    is_p2p = _is_true(entry.get("is_p2p", pair is not None))
    return {
        "event": number,
        "profiling_name": name.partition(" ")[0],
        "group_id": group.group_id,
        "purpose": group.purpose,
        "group_size": group.size,
        "is_p2p": is_p2p,
        "peer_rank": group.member(int(pair[2])) if pair else None,
        **_numbers(entry, is_p2p=is_p2p),
        **sizes.of(entry),
        **_times(entry),
        "state": state,
    }


def _is_true(value: object) -> bool:
    return value is True or value == "true"


def _numbers(entry: Mapping[str, object], *, is_p2p: bool) -> _Row:
    joint = integer_of(entry.get("collective_seq_id", entry.get("seq_id")))
    pair = integer_of(entry.get("p2p_seq_id"))
    return {
        "sequence": None if is_p2p else joint,
        "p2p_sequence": pair if is_p2p else None,
    }


def _times(entry: Mapping[str, object]) -> _Row:
    return {
        "enqueue_ns": time_of(entry.get("time_created_ns")),
        "start_ns": time_of(entry.get("time_discovered_started_ns")),
        "end_ns": time_of(entry.get("time_discovered_completed_ns")),
        "duration_ns": milliseconds_of(entry.get("duration_ms")),
    }


def _frame(
    rows: list[_Row], version: tuple[int, ...], rank: int, reading: Reading
) -> pl.DataFrame:
    number = pl.coalesce("sequence", "p2p_sequence")
    method = pl.when(number.is_not_null()).then(pl.lit("sequence"))
    plain = pl.col("profiling_name").str.replace(r"^\w+:", "").str.to_lowercase()
    kind = pl.coalesce(collective_kind(pl.col("profiling_name")), plain)
    told = pl.DataFrame(rows, schema=_SCHEMA).with_columns(kind=kind)
    size = message_size(pl.col("inward"), pl.col("outward"))
    if version and version < ALLTOALL_SIZES:
        size = pl.when(pl.col("kind") != "alltoall").then(size)
    return told.select(
        *(name for name in _SCHEMA if name not in _USED),
        "kind",
        pl.lit(reading.run_id).alias("run_id"),
        pl.lit(trace_id(reading)).alias("trace_id"),
        pl.lit(rank, pl.Int32).alias("rank"),
        parallel_kind(pl.col("purpose")).alias("parallel_kind"),
        pl.col("peer_rank").cast(pl.Int32),
        method.otherwise(pl.lit("order")).alias("match_method"),
        size.alias("bytes_total"),
        pl.lit("cpu").alias("time_basis"),
        phrase("entry {}", "event").alias("place"),
    )
