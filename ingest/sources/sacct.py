"""Jobs as Slurm's accounting tells them: `sacct --parsable2`, any fields, any order.

Steps of a job (123.batch) are no rows: they repeat its nodes and may end after it.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import BinaryIO, Final

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._lines_frames import Lines, line_frames
from ingest.sources._sacct_jobs import jobs_of
from ingest.sources._sacct_records import Header, parse_header, records_of
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import Jobs, Table


def recognizes(head: Head) -> bool:
    """Return whether the first line is a header of sacct's."""
    lines = head.text.lstrip().splitlines()
    return bool(lines) and parse_header(lines[0]) is not None


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the jobs of one file.

    Raises:
        UnreadableFileError: If the first line is not a header of sacct's.
    """
    blocks = line_frames(stream, Jobs)
    first = list(islice((block for block in blocks if len(block.frame)), 1))
    header = _header(first, reading)
    counted = "Restarts" in header.names
    waiting: list[pl.DataFrame] = []
    for records in records_of(chain(first, blocks), header):
        batch, jobs = jobs_of(records, header, reading)
        if not counted:
            waiting.append(jobs)
        rows: dict[type[Table], pl.DataFrame] = (
            {Jobs: jobs} if counted and len(jobs) else {}
        )
        yield replace(batch, rows=rows)
    if any(len(jobs) for jobs in waiting):
        yield Batch(rows={Jobs: _count_restarts(pl.concat(waiting))})


def _header(blocks: list[Lines], reading: Reading) -> Header:
    """Return the header that the first line is."""
    number, line = blocks[0].frame.row(0) if blocks else (1, "")
    header = parse_header(line)
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
