"""A table whose columns are those of `step_timings`: CSV, JSON lines or Parquet.

It needs `step`, `rank`, `start_ns` and `duration_ns`; `run_id` and the other columns of
the table may be there. Columns of other names are passed over: each counts as a repair
of the file and is named in the log; those of samples (`sample_from`, `sample_to`,
`batch_hash`) belong into a table of their own, and are refused as one record. Integers
are taken as they are written: 12.5, 1e9 or a number that the column cannot hold is
refused, and a Parquet column of floats makes the file unreadable. In CSV a cell may be
in quotes but cannot hold a line break, and the last line may lack its end (RFC 4180).
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

from ingest.sources._source import Batch, Head, Reading, Source
from ingest.sources._steps.columns import REQUIRED, STEPS
from ingest.sources._typed.parquet import MAGIC
from ingest.sources._typed.table import read_table, text_fits
from ingest.tables import StepTimings


def recognizes(head: Head) -> bool:
    """Return whether the file has the required columns.

    The columns of a Parquet file are at its end: where they are not known, whether they
    fit shows in reading.
    """
    if head.data.startswith(MAGIC):
        return not head.columns or set(head.columns).issuperset(REQUIRED)
    return text_fits(head, frozenset(REQUIRED).issubset)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a table of steps.

    Raises:
        UnreadableFileError: If a required column is missing.
    """
    return read_table(stream, STEPS, reading)


SOURCE: Final = Source(
    name="step-table",
    version=3,
    describes="CSV, JSON lines or Parquet with the columns of step_timings",
    tables=(StepTimings,),
    options=frozenset({"run_id"}),
    recognizes=recognizes,
    read=read,
    needs=REQUIRED,
)
