"""Jobs as Slurm's accounting tells them: sacct, any fields, any order.

* `--parsable2` with any delimiter, or the columns of fixed width that sacct writes
  without it, whose cells may be cut.
* Steps of a job (123.batch) are no rows: they repeat its nodes and may end after it.
* A file of several listings may change its header on the way.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import BinaryIO, Final

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._lines_frames import line_frames
from ingest.sources._slurm.jobs import count_restarts
from ingest.sources._slurm.sacct_jobs import jobs_of
from ingest.sources._slurm.sacct_records import Header, Records, records_of
from ingest.sources._slurm.sacct_sections import first_header, peeked, sections
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import Jobs, Table


def recognizes(head: Head) -> bool:
    """Return whether the first line is a header of sacct's."""
    lines = [line.strip() for line in head.text.lstrip().splitlines()[:2]]
    return first_header(lines) is not None


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the jobs of one file.

    Raises:
        UnreadableFileError: If the first line is not a header of sacct's.
    """
    waiting: list[pl.DataFrame] = []
    for header, records in _records(stream, reading):
        batch, jobs = jobs_of(records, header, reading)
        counted = "Restarts" in header.names
        if not counted:
            waiting.append(jobs)
        rows: dict[type[Table], pl.DataFrame] = (
            {Jobs: jobs} if counted and len(jobs) else {}
        )
        yield replace(batch, rows=rows)
    if any(len(jobs) for jobs in waiting):
        yield Batch(rows={Jobs: count_restarts(pl.concat(waiting))})


def _records(stream: BinaryIO, reading: Reading) -> Iterator[tuple[Header, Records]]:
    """Yield the records of a file with the header that they stand under."""
    lines, blocks = peeked(line_frames(stream, Jobs))
    first = first_header(lines)
    if first is None:
        raise UnreadableFileError(
            reading.path,
            "line 1",
            "names of sacct's fields with JobID and State among them",
            "write the file with `sacct --parsable2` and without --noheader",
        )
    for header, parts in groupby(sections(first, blocks), key=itemgetter(0)):
        for records in records_of((lines for _, lines in parts), header):
            yield header, records


SOURCE: Final = Source(
    name="sacct",
    version=5,
    describes="jobs of Slurm: sacct, any fields that have JobID and State",
    tables=(Jobs,),
    options=frozenset({"zone", "run_id", "cluster"}),
    recognizes=recognizes,
    read=read,
    needs=("JobID", "State"),
)
