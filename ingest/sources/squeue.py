"""Jobs as squeue lists them with a delimiter: squeue --format "%i|%j|%T|%V|%S|...".

Any fields in any order that have JOBID and a state, under the header that squeue
writes. A job that waits has a forecast for a start, one that runs its time limit for
an end: neither is taken for a time. A job that runs needs its start (%S): without one
its row would say that it never started. What squeue writes by default has no times,
and columns that cut names, so that it is recognized and not read.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO, Final

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.phrases import phrase
from ingest.sources._lines_frames import line_frames
from ingest.sources._slurm.jobs import job_rows
from ingest.sources._slurm.listing import (
    UNDER,
    Listing,
    cells_of,
    has_header,
    with_clusters,
    with_header,
)
from ingest.sources._slurm.states import WAITING, state
from ingest.sources._source import Batch, Head, Reading, Refusal, Source
from ingest.tables import Jobs

#: Columns by the names that sacct has for them, and their names in headers.
_WANTED: Final = {
    "JobID": ("JOBID",),
    "JobName": ("NAME",),
    "State": ("STATE", "ST"),
    "Submit": ("SUBMIT_TIME",),
    "Eligible": ("ELIGIBLE_TIME",),
    "Start": ("START_TIME",),
    "End": ("END_TIME",),
    "ExitCode": ("EXIT_CODE",),
    "NodeList": ("NODELIST", "NODELIST(REASON)"),
    "NNodes": ("NODES",),
    "AllocTRES": ("TRES_ALLOC",),
    "GPUs": ("TRES_PER_NODE", "GRES"),
    "Restarts": ("RESTART_COUNT", "RESTARTCNT"),
    "Reason": ("REASON",),
    "QOS": ("QOS",),
    "Account": ("ACCOUNT",),
    "Cluster": ("CLUSTER",),
}

_FORMAT: Final = "%i|%j|%T|%V|%S|%e|%D|%N|%r|%q|%a|%b"


def _is_squeue(listing: Listing) -> bool:
    names = set(listing.names)
    return "JOBID" in names and not names.isdisjoint({"STATE", "ST"})


def recognizes(head: Head) -> bool:
    """Return whether a header of squeue's is among the first lines."""
    return has_header(head, _is_squeue)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the jobs of a listing.

    Raises:
        UnreadableFileError: If blanks align its columns.
    """
    blocks = with_clusters(line_frames(stream, Jobs))
    for listing, lines in with_header(blocks, _is_squeue):
        if listing is not None and not listing.delimiter:
            raise UnreadableFileError(
                reading.path,
                "header",
                "fields with a delimiter, START_TIME among them",
                f'write it with squeue --all --format "{_FORMAT}"',
            )
        if listing is None:
            yield lines.counted()
            continue
        cells, refused = cells_of(lines, listing, _WANTED, Jobs)
        yield replace(lines.counted(), refused=(*lines.refused, *refused))
        jobs, unknown = _started(_completed(cells))
        yield Batch(refused=unknown)
        yield job_rows(jobs, reading).batch(0)


def _completed(cells: pl.DataFrame) -> pl.DataFrame:
    """Take what is in brackets for no node, and count GPUs over the nodes."""
    is_reason = pl.col("NodeList").str.starts_with("(")
    per_node = pl.col("GPUs").str.replace("^gres[/:]", "")
    return cells.with_columns(
        Cluster=pl.coalesce("Cluster", UNDER),
        NodeList=pl.when(~is_reason).then("NodeList"),
        Reason=pl.coalesce(
            "Reason", pl.when(is_reason).then(pl.col("NodeList").str.strip_chars("()"))
        ),
        ReqGRES=phrase("PER_NODE:{}", per_node),
    )


def _started(jobs: pl.DataFrame) -> tuple[pl.DataFrame, tuple[Refusal, ...]]:
    """Return the jobs whose start is told or still to come, and refuse the others."""
    untold = pl.col("Start").is_null() | pl.col("Start").is_in(["", "N/A", "Unknown"])
    is_missing = (untold & ~state().is_in(WAITING)).fill_null(value=False)
    bad = jobs.filter(is_missing).select("place", "raw")
    refused = (
        Refusal(Jobs, place, "start_ns|required", raw, "a START_TIME (%S)")
        for place, raw in bad.iter_rows()
    )
    return jobs.filter(~is_missing), tuple(refused)


SOURCE: Final = Source(
    name="squeue",
    version=4,
    describes="jobs of Slurm: squeue with a delimiter, its header and START_TIME",
    tables=(Jobs,),
    options=frozenset({"zone", "run_id", "cluster"}),
    recognizes=recognizes,
    read=read,
)
