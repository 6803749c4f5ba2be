"""Jobs as Slurm's accounting tells them: `sacct --parsable2`, any fields, any order.

Steps of a job (123.batch) are no rows: they repeat its nodes and may end after it.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO, Final

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._sacct_jobs import jobs_of
from ingest.sources._sacct_records import Header, parse_header, records_of
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import Jobs, Table

#: Longest header: 150 fields of sacct take 3 kB.
_HEADER_BYTES: Final = 65_536


def recognizes(head: Head) -> bool:
    """Return whether the first line is a header of sacct's."""
    lines = head.text.lstrip().splitlines()
    return bool(lines) and parse_header(lines[0]) is not None


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the jobs of one file.

    Raises:
        UnreadableFileError: If the first line is not a header of sacct's.
    """
    header = _header(stream, reading)
    counted = "Restarts" in header.names
    waiting: list[pl.DataFrame] = []
    for records in records_of(stream, header):
        batch, jobs = jobs_of(records, header, reading)
        if not counted:
            waiting.append(jobs)
        rows: dict[type[Table], pl.DataFrame] = (
            {Jobs: jobs} if counted and len(jobs) else {}
        )
        yield replace(batch, rows=rows)
    if any(len(jobs) for jobs in waiting):
        yield Batch(rows={Jobs: _count_restarts(pl.concat(waiting))})


def _header(stream: BinaryIO, reading: Reading) -> Header:
    """Read up to the first line that is not blank."""
    number, line = 1, stream.readline(_HEADER_BYTES)
    while line in {b"\n", b"\r\n"}:
        number, line = number + 1, stream.readline(_HEADER_BYTES)
    header = parse_header(line.decode("utf-8-sig", errors="replace"), number)
    if header is None:
        raise UnreadableFileError(
            reading.path,
            f"line {number}",
            "names of sacct's fields with JobID and State among them",
            "write the file with `sacct --parsable2` and without --noheader",
        )
    return header


def _count_restarts(jobs: pl.DataFrame) -> pl.DataFrame:
    """Number the attempts of each job by their start; one that never started is last.

    For files without the field Restarts.
    """
    ordered = jobs.sort("job_id", "start_ns", "submit_ns", nulls_last=True)
    position = pl.int_range(pl.len(), dtype=pl.Int64).over("job_id")
    return ordered.with_columns(restart_count=position)


SOURCE: Final = Source(
    name="sacct",
    version=1,
    describes="jobs of Slurm: sacct --parsable2, any fields that have JobID and State",
    tables=(Jobs,),
    options=frozenset({"zone", "run_id", "cluster"}),
    recognizes=recognizes,
    read=read,
)
