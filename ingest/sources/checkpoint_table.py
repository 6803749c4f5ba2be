"""A table whose columns are those of `checkpoints`: CSV, JSON lines or Parquet.

It needs `kind` (save or load), `step`, `start_ns` (UTC), and `duration_ns` or
`stall_ns`; `run_id` and the other columns of the table may be there. Columns of other
names are passed over: each counts as a repair of the file and is named in the log.
Integers are taken as they are written. A table that has a column of `step_timings`
alone, such as `compute_ns`, is one of steps.
"""

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

from ingest.sources._source import Batch, Head, Reading, Source
from ingest.sources._typed.shape import Shape
from ingest.sources._typed.table import read_table, table_fits
from ingest.tables import Checkpoints, StepTimings

#: Columns that every such table must have; a step may be empty.
_REQUIRED: Final = (
    Checkpoints.kind.name,
    Checkpoints.step.name,
    Checkpoints.start_ns.name,
)

#: What such a table is like.
CHECKPOINTS: Final = Shape(
    table=Checkpoints,
    noun="a table of checkpoints",
    needs=(_REQUIRED,),
    one_of=(Checkpoints.duration_ns.name, Checkpoints.stall_ns.name),
)

#: Columns by which a table is one of steps.
_OF_STEPS: Final = frozenset(StepTimings.column_names()) - {*Checkpoints.column_names()}


def recognizes(head: Head) -> bool:
    """Return whether the file has the columns, and none of steps."""
    return table_fits(head, _fits)


def _fits(names: Iterable[str]) -> bool:
    found = set(names)
    return _OF_STEPS.isdisjoint(found) and CHECKPOINTS.fits(found)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a table of checkpoints.

    Raises:
        UnreadableFileError: If a required column is missing.
    """
    return read_table(stream, CHECKPOINTS, reading)


SOURCE: Final = Source(
    name="checkpoint-table",
    version=1,
    describes="CSV, JSON lines or Parquet with the columns of checkpoints",
    tables=(Checkpoints,),
    options=frozenset({"run_id"}),
    recognizes=recognizes,
    read=read,
    needs=(*_REQUIRED, Checkpoints.duration_ns.name),
)
