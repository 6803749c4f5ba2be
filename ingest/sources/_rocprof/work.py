"""Work on GPUs as rocprof tells it, as frames of one schema."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import polars as pl

from ingest.communication import communication_names
from ingest.sources._kineto.blocks import Block
from ingest.sources._kineto.events import decode_as
from ingest.sources._kineto.work import CATEGORIES
from ingest.sources._rocprof.agents import Process
from ingest.sources._rocprof.events import (
    EVENTS,
    NO_HANDLE,
    RECORDS,
    Args,
    Correlation,
    Dispatch,
    Event,
    Record,
    last_bits,
    spans,
    whole,
)

_COMPUTE, _COMMUNICATION, _MEMORY = range(len(CATEGORIES))

#: Work of rocprof 1 and 2 that is a copy or a fill; it has no kernel's name.
_COPY: Final = re.compile(r"(?:hc|hip)?(?:Mem(?:cpy|set)|Copy|Fill)")

#: Work of rocprof 1 and 2 that only keeps a queue in order.
_BARRIER: Final = re.compile(r"(?:Marker|Barrier)")

_NO_DISPATCH: Final = Dispatch()
_NO_CALL: Final = Correlation()

_COMMUNICATES: Final = communication_names()

WORK: Final = pl.Schema(
    {
        "event": pl.Int64,
        "name": pl.String,
        "category": pl.UInt8,
        "start": pl.Int64,
        "duration": pl.Int64,
        "device": pl.Int64,
        "stream": pl.Int64,
        "correlation": pl.Int64,
        "external": pl.Int64,
    }
)

LAUNCHES: Final = pl.Schema(
    {"correlation": pl.Int64, "external": pl.Int64, "launch": pl.Int64}
)


def operations(block: Block, first: int) -> pl.DataFrame:
    """Return the work among events of rocprof 1 and 2: what names a device."""
    events = decode_as(block.text, Event, EVENTS)
    chosen = list(_work_among(events, first))
    args = [told for _, _, told in chosen]
    names = [name for _, name, _ in chosen]
    return _frame(
        {
            "event": [number for number, _, _ in chosen],
            "name": names,
            "category": [
                _MEMORY if _COPY.match(name) else _category(name) for name in names
            ],
            **spans([one.begin for one in args], [one.end for one in args]),
            "device": [
                whole(one.gpu if one.device is None else one.device) for one in args
            ],
            "stream": [
                whole(one.queue if one.queue is not None else one.stream)
                for one in args
            ],
        }
    )


def _work_among(events: Sequence[Event], first: int) -> Iterator[tuple[int, str, Args]]:
    for number, event in enumerate(events, first):
        args = event.args
        if args is None or (args.device is None and args.gpu is None):
            continue
        if not _BARRIER.match(event.name):
            yield number, event.name, args


def dispatches(block: Block, process: Process, first: int) -> pl.DataFrame:
    """Return the kernels of rocprofv3."""
    records = decode_as(block.text, Record, RECORDS)
    told = [one.dispatch_info or _NO_DISPATCH for one in records]
    names = [process.kernel(one.kernel_id) for one in told]
    queues = [one.queue_id or NO_HANDLE for one in told]
    return _frame(
        {
            "name": names,
            "category": [_category(name) for name in names],
            "device": [process.device(one.agent_id or NO_HANDLE) for one in told],
            "stream": [last_bits(one.handle) for one in queues],
            **_when(records, process, first),
        }
    )


def copies(block: Block, process: Process, first: int) -> pl.DataFrame:
    """Return the copies of rocprofv3, on the GPU that they lead to, else from."""
    records = decode_as(block.text, Record, RECORDS)
    ends = [
        (one.src_agent_id or NO_HANDLE, one.dst_agent_id or NO_HANDLE)
        for one in records
    ]
    return _frame(
        {
            "name": [process.copy(source, target) for source, target in ends],
            "category": [_MEMORY] * len(records),
            "device": [
                process.device(source) if found is None else found
                for source, target in ends
                for found in [process.device(target)]
            ],
            **_when(records, process, first),
        }
    )


def calls(block: Block, process: Process) -> pl.DataFrame:
    """Return the calls of rocprofv3 that may have launched work."""
    records = decode_as(block.text, Record, RECORDS)
    columns = {
        "correlation": _correlations(records, process),
        "launch": [whole(one.start_timestamp) for one in records],
    }
    frame = pl.DataFrame(columns, schema_overrides=LAUNCHES)
    external = frame.with_columns(external=pl.lit(None, pl.Int64))
    return external.select(LAUNCHES.names()).drop_nulls("launch")


def _when(
    records: Sequence[Record], process: Process, first: int
) -> Mapping[str, Sequence[object]]:
    return {
        "event": range(first, first + len(records)),
        "correlation": _correlations(records, process),
        **spans(
            [one.start_timestamp for one in records],
            [one.end_timestamp for one in records],
        ),
    }


def _correlations(records: Sequence[Record], process: Process) -> list[int | None]:
    return [process.correlation(one.correlation_id or _NO_CALL) for one in records]


def _category(name: str) -> int:
    return _COMMUNICATION if _COMMUNICATES.search(name) else _COMPUTE


def _frame(columns: Mapping[str, Sequence[object]]) -> pl.DataFrame:
    nothing = [None] * len(columns["name"])
    told = {name: columns.get(name, nothing) for name in WORK}
    return pl.DataFrame(told, schema=WORK)
