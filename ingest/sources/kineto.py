"""Traces of PyTorch's profiler (Kineto): JSON of any size, in the memory of a block.

Work is what a category says: kernels and copies, also those that no call in the trace
launched. Times are whole nanoseconds, `baseTimeNanoseconds` added. Work waits for the
end of the file, where launches, steps and the base may stand: what is more than a
usual trace has waits in temporary files.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import BinaryIO, Final

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._kineto.collectives import collective_rows, with_requests
from ingest.sources._kineto.document import Document
from ingest.sources._kineto.facts import Facts, rank_in_name
from ingest.sources._kineto.gather import Gathering
from ingest.sources._kineto.groups import fallback_group
from ingest.sources._kineto.limits import limits_of
from ingest.sources._kineto.links import Links
from ingest.sources._kineto.losses import Losses
from ingest.sources._kineto.rows import kernel_rows, sound_work, step_rows
from ingest.sources._kineto.spool import Spool
from ingest.sources._source import HEAD_BYTES, Batch, Head, Reading, Source
from ingest.tables import Collectives, Kernels, StepTimings, Table

#: Rows of work that stay in memory; 1 M events have about 0.1 M. [1]
WORK_IN_MEMORY: Final = 1 << 16

#: Launches that stay in memory; 1 M events have about 0.2 M. [1]
LAUNCHES_IN_MEMORY: Final = 1 << 17

#: Key of the events, and keys that only this profiler writes.
_TELLING: Final = re.compile(
    rb'"(?:traceEvents|deviceProperties|distributedInfo|baseTimeNanoseconds)"\s*:'
)

#: First keys of traces whose events begin only behind the head of the file.
_FIRST: Final = re.compile(
    rb'\{\s*"(?:metadata|schemaVersion|traceName|displayTimeUnit)"\s*:'
)

#: Events without an object around them: a list, of which one is of this profiler.
_LIST: Final = re.compile(rb"\[\s*\{")
_EVENT: Final = re.compile(
    rb'"cat"\s*:\s*"(?:kernel|gpu_mem\w+|memcpy|memset|cpu_op|operator|python_function'
    rb'|user_annotation|(?:cuda_|hip_)?(?:runtime|driver))"',
    re.IGNORECASE,
)


def recognizes(head: Head) -> bool:
    """Return whether the head is that of a trace."""
    data = head.data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if _LIST.match(data):
        return _EVENT.search(data) is not None
    if not data.startswith(b"{"):
        return False
    is_cut = len(head.data) >= HEAD_BYTES
    return bool(_TELLING.search(data) or (is_cut and _FIRST.match(data)))


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the work, the collectives and the steps of a trace.

    Raises:
        UnreadableFileError: If it is neither an object nor a list.
    """
    losses = Losses()
    document = Document(stream, losses)
    if document.opening not in {b"{", b"["}:
        raise UnreadableFileError(
            reading.path,
            "byte 0",
            "a trace of PyTorch's profiler, which begins with { or [",
            "export it again with export_chrome_trace",
        )
    with (
        Spool(WORK_IN_MEMORY) as work,
        Spool(WORK_IN_MEMORY) as collectives,
        Spool(LAUNCHES_IN_MEMORY) as launches,
    ):
        gathering = Gathering(work, collectives, launches)
        for block in document.blocks():
            gathering.add(block)
            if losses.is_full:
                yield losses.take()
        gathering.spool()
        yield from _rows(gathering, document.facts, losses, reading)
    last = losses.take()
    yield replace(last, records=last.records + gathering.records)


def _rows(
    gathering: Gathering, facts: Facts, losses: Losses, reading: Reading
) -> Iterator[Batch]:
    host = gathering.host
    steps, requests = host.steps(), host.requests()
    window = host.longest_window()
    limits = limits_of(gathering.work, steps, facts.base_ns, window)
    rank = rank_in_name(reading.name) if facts.rank is None else facts.rank
    links = Links(gathering.launches, steps)
    group = fallback_group(chain(gathering.collectives, [requests]), facts.world_size)
    for work, told in zip(gathering.work, gathering.collectives, strict=True):
        linked = links.link(sound_work(work, limits, losses))
        asked = with_requests(linked.join(told, on="event"), requests)
        yield _batch(
            {
                Kernels: kernel_rows(linked, limits, rank, reading),
                Collectives: collective_rows(asked, limits, rank, group, reading),
            }
        )
        if losses.is_full:
            yield losses.take()
    yield _batch({StepTimings: step_rows(steps, limits, rank, reading, losses)})


def _batch(rows: dict[type[Table], pl.DataFrame]) -> Batch:
    return Batch(rows={table: frame for table, frame in rows.items() if len(frame)})


SOURCE: Final = Source(
    name="kineto",
    version=5,
    describes="traces of PyTorch's profiler (export_chrome_trace): kernels, copies,"
    " collectives and steps",
    tables=(Kernels, Collectives, StepTimings),
    options=frozenset({"run_id", "name"}),
    recognizes=recognizes,
    read=read,
)
