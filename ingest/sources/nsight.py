"""Exports of Nsight Systems as SQLite (nsys export --type sqlite), schemas 3.x.

Kernels, graphs, copies and sets are work; what NCCL launched is a collective, too. The
schema promises no table and hardly a column: what is missing is null. Times count from
the start of the session, which a table of its own gives in UTC.

An export has no ranks, and may hold several processes and GPUs. A rank is told only
where one process used one GPU and the file's name says which rank it was; of more, a
number of a GPU would be an invention, so their rank is null. GPUs are told apart by
`device`: processes that each see only their own call it 0, so the table of CUDA
devices is asked which GPU that was.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import BinaryIO, Final

from ingest.errors import UnreadableFileError
from ingest.sources._kineto.losses import Losses
from ingest.sources._kineto.spool import Spool
from ingest.sources._nsight.database import BROKEN, Database
from ingest.sources._nsight.gather import Gathering, kernel_names
from ingest.sources._nsight.opening import open_database
from ingest.sources._nsight.rows import Export, rows_of
from ingest.sources._nsight.session import devices_of, session_start
from ingest.sources._nsight.steps import steps_of
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.sources._whole import on_disk
from ingest.tables import Collectives, Kernels, StepTimings

#: Rows of work, and launches, that stay in memory. [1]
ROWS_IN_MEMORY: Final = 1 << 17

_MAGIC: Final = b"SQLite format 3\0"

#: Tables that only this exporter makes, as the schema spells them.
_TELLING: Final = re.compile(
    rb"CREATE TABLE (?:CUPTI_ACTIVITY_KIND_|TARGET_INFO_|ENUM_NSYS_|NVTX_EVENTS|"
    rb"ProcessStreams|META_DATA_CAPTURE)"
)


def recognizes(head: Head) -> bool:
    """Return whether the head is that of a database with one of its tables."""
    if not head.data.startswith(_MAGIC):
        return False
    return bool(_TELLING.search(head.data) or _TELLING.search(head.tail))


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the work, the collectives and the steps of an export.

    Raises:
        UnreadableFileError: If it is no database, or its schema is damaged.
    """
    losses = Losses()
    with ExitStack() as stack:
        work, launches = (stack.enter_context(Spool(ROWS_IN_MEMORY)) for _ in range(2))
        try:
            path = stack.enter_context(on_disk(stream))
            database = stack.enter_context(open_database(path))
            export, records = _gather(database, work, launches, losses)
        except BROKEN as error:
            raise UnreadableFileError(
                reading.path,
                "schema",
                "a database that Nsight Systems exported",
                "export it again with nsys export --type sqlite"
                f" ({type(error).__name__})",
            ) from error
        repairs = database.repairs
        yield from rows_of(export, losses, reading)
    last = losses.take()
    yield replace(last, records=last.records + records, repairs=last.repairs + repairs)


def _gather(
    database: Database, work: Spool, launches: Spool, losses: Losses
) -> tuple[Export, int]:
    """Take from a database what rows are made of, and count its records."""
    gathering = Gathering(database, losses)
    gathering.add_work(work)
    gathering.add_launches(launches)
    strings = gathering.strings()
    export = Export(
        work=work,
        launches=launches,
        names=kernel_names(strings),
        steps=steps_of(database, strings, losses),
        devices=devices_of(database, losses),
        places=frozenset(gathering.places),
        base_ns=session_start(database, losses),
    )
    return export, gathering.records


SOURCE: Final = Source(
    name="nsight",
    version=2,
    describes="SQLite exports of NVIDIA Nsight Systems: kernels, graphs, copies,"
    " collectives and steps",
    tables=(Kernels, Collectives, StepTimings),
    options=frozenset({"run_id", "name"}),
    recognizes=recognizes,
    read=read,
)
