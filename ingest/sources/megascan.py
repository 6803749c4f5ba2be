"""Traces of MegaScan (OpenSQZ/MegatronApp), gathered from all ranks of a pipeline.

A Chrome trace of a list of events: `B` and `E` bound an operation (forward, backward),
`pid` is the global rank, and what the operation was (micro-batch, model chunk, pipeline
stage) stands at its end only. Times are microseconds since the first iteration began,
which nothing in the file sets on a calendar: `offset_ns` has them, and no row is dated.
Instants have no length and make no row.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO, Final

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._kineto.document import Document
from ingest.sources._kineto.losses import Losses
from ingest.sources._kineto.rows import PLACE, trace_id
from ingest.sources._megascan_events import SCHEMA, edges_of
from ingest.sources._megascan_spans import NO_BEGIN, NO_END, Sequences, Spans
from ingest.sources._source import RAW_CHARACTERS, Batch, Head, Reading, Source
from ingest.tables import Operations

_START: Final = re.compile(rb'\s*(?:\[\s*\{|\{\s*"traceEvents"\s*:\s*\[\s*\{)')

#: What an event of an operation has, and what only this tracer writes.
_EVENT: Final = re.compile(rb'"ph"\s*:\s*"[BEi]"')
_ITERATION: Final = re.compile(rb'"args"\s*:\s*\{\s*"iteration"\s*:\s*\d')
_TELLING: Final = re.compile(rb'"(?:model_chunk|iteration begin|thread_state_\w+)"')

#: Categories of events, which every other profiler writes.
_CATEGORY: Final = re.compile(rb'"cat"\s*:')

_INDEXES: Final = ("rank", "dp_rank", "pp_rank", "tp_rank", "microbatch", "chunk")

#: What a refused event is shown by.
_SHOWN: Final = ("name", "rank", "thread", "step", "time")


def recognizes(head: Head) -> bool:
    """Return whether the head is that of such a trace."""
    data = head.data.removeprefix(b"\xef\xbb\xbf")
    if not _START.match(data) or _CATEGORY.search(data):
        return False
    return all(one.search(data) for one in (_EVENT, _ITERATION, _TELLING))


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the operations of a trace.

    Raises:
        UnreadableFileError: If it is neither an object nor a list.
    """
    losses = Losses(Operations)
    document = _document(stream, losses, reading)
    spans, sequences = Spans(SCHEMA), Sequences()
    records = 0
    for block in document.blocks():
        edges = edges_of(block.text, records)
        records += len(block.events)
        ended, lost = spans.close(edges)
        _refuse(lost, NO_BEGIN, losses)
        if len(ended):
            yield Batch(rows={Operations: _rows(sequences.number(ended), reading)})
        if losses.is_full:
            yield losses.take()
    _refuse(spans.open, NO_END, losses)
    last = losses.take()
    yield replace(last, records=last.records + records)


def _document(stream: BinaryIO, losses: Losses, reading: Reading) -> Document:
    document = Document(stream, losses)
    if document.opening in {b"{", b"["}:
        return document
    raise UnreadableFileError(
        reading.path,
        "byte 0",
        "a trace of MegaScan, which begins with { or [",
        "gather it again from the traces of its ranks",
    )


def _refuse(edges: pl.DataFrame, rule: str, losses: Losses) -> None:
    shown = pl.struct(_SHOWN).struct.json_encode().str.slice(0, RAW_CHARACTERS)
    for event, raw in edges.select("event", shown.alias("raw")).iter_rows():
        losses.refuse_event(Operations, rule, event, raw)


def _rows(ended: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    named = ended.with_columns(pl.col("name").replace("", None))
    return named.select(
        pl.lit(reading.run_id).alias("run_id"),
        pl.lit(trace_id(reading)).alias("trace_id"),
        "step",
        *(pl.col(name).cast(pl.Int32) for name in _INDEXES),
        pl.col("name").alias("kind"),
        "sequence",
        pl.col("begin").alias("offset_ns"),
        (pl.col("time") - pl.col("begin")).alias("duration_ns"),
        PLACE.alias("place"),
    )


SOURCE: Final = Source(
    name="megascan",
    version=2,
    describes="MegaScan traces (MegatronApp): forward and backward passes of all ranks"
    " by micro-batch",
    tables=(Operations,),
    options=frozenset({"run_id"}),
    recognizes=recognizes,
    read=read,
)
