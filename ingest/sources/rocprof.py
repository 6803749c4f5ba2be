"""Traces of AMD's ROCm profilers as JSON: rocprof 1 and 2, and rocprofv3.

* rocprof (ROCm 3 to 6; --hip-trace, --sys-trace, --timestamp on): `results.json`, a
  Chrome trace whose events carry `BeginNs`, `EndNs` and, for work, `dev-id` (or
  `gpu-id`) and `queue-id`. Work is what names a device. Copies that HSA sees beneath
  those of HIP name none, and make no row; nor do barriers. Which call launched it is
  drawn by arrows only, so no work is linked.
* rocprofv3 (ROCm 6.2 and later; --output-format json): `rocprofiler-sdk-tool`, a list
  of processes with lists of records. A GPU is told by the profiler's own number of
  it, in old versions by its place among the GPUs.

Times are those of the machine's clock since it started: nothing sets them on a
calendar. Ranks are not told: one is known where the file's name says it and only one
GPU was used. Marked ranges are not read, so no step is known.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._kineto.collectives import named_collectives
from ingest.sources._kineto.facts import rank_in_name
from ingest.sources._kineto.limits import limits_of
from ingest.sources._kineto.links import Links
from ingest.sources._kineto.losses import Losses
from ingest.sources._kineto.rows import kernel_rows, sound_work
from ingest.sources._kineto.spool import Spool
from ingest.sources._rocprof.gather import Gathering
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.sources._whole import on_disk
from ingest.tables import Collectives, Kernels, Table

#: Rows of work, and calls, that stay in memory. [1]
ROWS_IN_MEMORY: Final = 1 << 17

_TOOL: Final = re.compile(rb'\s*\{\s*"rocprofiler-sdk-tool"\s*:')
_CHROME: Final = re.compile(rb'\s*\{\s*"traceEvents"\s*:\s*\[')
_BEGIN: Final = re.compile(rb'"args"\s*:\s*\{[^{}]{0,4000}"BeginNs"\s*:')

#: No step is known.
_NO_STEPS: Final = pl.DataFrame(
    schema={"step": pl.Int64, "start": pl.Int64, "duration": pl.Int64}
)


def recognizes(head: Head) -> bool:
    """Return whether the head is that of such a trace."""
    data = head.data.removeprefix(b"\xef\xbb\xbf")
    if _TOOL.match(data):
        return True
    return bool(_CHROME.match(data) and _BEGIN.search(data))


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the work and the collectives of a trace.

    Raises:
        UnreadableFileError: If it is no JSON object.
    """
    losses = Losses()
    with ExitStack() as stack:
        work, launches = (stack.enter_context(Spool(ROWS_IN_MEMORY)) for _ in range(2))
        gathering = Gathering(work, launches, losses)
        path = stack.enter_context(on_disk(stream))
        _gather(path, gathering, reading)
        yield from _rows(gathering, losses, reading)
    last = losses.take()
    yield replace(last, records=last.records + gathering.records)


def _gather(path: Path, gathering: Gathering, reading: Reading) -> None:
    if not gathering.take(path):
        raise UnreadableFileError(
            reading.path,
            "byte 0",
            "a trace of rocprof, which begins with {",
            "export it again with rocprofv3 --output-format json",
        )


def _rows(gathering: Gathering, losses: Losses, reading: Reading) -> Iterator[Batch]:
    limits = limits_of(gathering.work, _NO_STEPS, None, None)
    links = Links(gathering.launches, _NO_STEPS)
    rank = rank_in_name(reading.name) if len(gathering.places) == 1 else None
    for work in gathering.work:
        linked = links.link(sound_work(work, limits, losses)).sort("event")
        yield _batch(
            {
                Kernels: kernel_rows(linked, limits, rank, reading),
                Collectives: named_collectives(linked, limits, rank, reading),
            }
        )
        if losses.is_full:
            yield losses.take()


def _batch(rows: dict[type[Table], pl.DataFrame]) -> Batch:
    return Batch(rows={table: frame for table, frame in rows.items() if len(frame)})


SOURCE: Final = Source(
    name="rocprof",
    version=2,
    describes="JSON traces of AMD's rocprof 1 and 2 and rocprofv3: kernels, copies and"
    " collectives",
    tables=(Kernels, Collectives),
    options=frozenset({"run_id", "name"}),
    recognizes=recognizes,
    read=read,
)
