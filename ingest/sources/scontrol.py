"""Jobs and nodes as `scontrol show job` and `scontrol show node` print them.

Records of Key=Value pairs, over several lines or with --oneliner in one each. Listings
of partitions and reservations are recognized; they make no rows.

* A job that runs has its time limit for an end, one that waits a forecast for a start:
  neither is taken for a time.
* A node gives a row where its state is a failure; the time is that of its reason.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._lines_frames import line_frames
from ingest.sources._slurm.cells import NOTHING
from ingest.sources._slurm.jobs import job_rows
from ingest.sources._slurm.nodes import node_batch, with_stamp
from ingest.sources._slurm.scontrol_records import records_of, value
from ingest.sources._source import RAW_CHARACTERS, Batch, Head, Reading, Source
from ingest.tables import Failures, Jobs

#: Characters of the head in which the first record shows what it is.
_SHOWS: Final = 4_096

#: Starts of listings; slurm.conf names nodes and partitions too, but not these.
_TELLING: Final = re.compile(
    r"\s*(?:JobId=[0-9]+ .*?\bJobState=|NodeName=\S+ .*?\b(?:CPUAlloc|CPUTot)=[0-9]"
    r"|PartitionName=\S+\s.*?\bTotalNodes=[0-9]|ReservationName=\S+ StartTime=)",
    re.DOTALL,
)

#: Keys of a job by the names that sacct has for its fields; the first that is there.
_KEYS: Final = {
    "JobName": ("JobName", "Name"),
    "State": ("JobState",),
    "Submit": ("SubmitTime",),
    "Eligible": ("EligibleTime",),
    "Start": ("StartTime",),
    "End": ("EndTime",),
    "ExitCode": ("ExitCode",),
    "NodeList": ("NodeList",),
    "NNodes": ("NumNodes",),
    "AllocTRES": ("AllocTRES", "TRES"),
    "ReqTRES": ("ReqTRES",),
    "Restarts": ("Restarts",),
    "Reason": ("Reason",),
    "QOS": ("QOS",),
    "Account": ("Account",),
}


def recognizes(head: Head) -> bool:
    """Return whether the head starts with a record of a listing."""
    return _TELLING.match(head.text[:_SHOWS]) is not None


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the jobs and the nodes of a listing."""
    for records, lines in records_of(line_frames(stream, Jobs)):
        placed = records.with_columns(
            place=phrase("line {}", "number"),
            raw=pl.col("text").str.head(RAW_CHARACTERS),
        )
        is_job = pl.col("text").str.starts_with("JobId=")
        is_node = pl.col("text").str.starts_with("NodeName=")
        jobs = job_rows(_fields(placed.filter(is_job)), reading)
        yield jobs.batch(len(records) + len(lines.refused), lines.repairs)
        yield Batch(refused=lines.refused)
        yield node_batch(_nodes(placed.filter(is_node)), reading)


def _fields(records: pl.DataFrame) -> pl.DataFrame:
    """Return the fields of jobs by sacct's names."""
    told = {
        name: pl.coalesce(_given(value(key)) for key in keys)
        for name, keys in _KEYS.items()
    }
    return records.select("place", "raw", _job_id(), **told)


def _given(cell: pl.Expr) -> pl.Expr:
    return pl.when(~cell.is_in(NOTHING)).then(cell)


def _job_id() -> pl.Expr:
    """Return the number as sacct writes it: of an array 123_7, of a part 123+1."""
    task = value("ArrayTaskId")
    index = pl.when(task.str.contains(r"^[0-9]+$")).then(task)
    array = phrase("{}_{}", value("ArrayJobId"), index.fill_null("[" + task + "]"))
    part = pl.coalesce(
        phrase("{}+{}", value(f"{kind}JobId"), value(f"{kind}JobOffset"))
        for kind in ("Het", "Pack")
    )
    return pl.coalesce(array, part, value("JobId").str.extract(r"^([0-9]+)")).alias(
        "JobID"
    )


def _nodes(records: pl.DataFrame) -> pl.DataFrame:
    return with_stamp(
        records.select(
            "place",
            "raw",
            Nodes=value("NodeName"),
            State=value("State"),
            Reason=value("Reason"),
        )
    )


SOURCE: Final = Source(
    name="scontrol",
    version=3,
    describes="jobs and states of nodes: scontrol show job, scontrol show node",
    tables=(Jobs, Failures),
    options=frozenset({"zone", "run_id", "cluster"}),
    recognizes=recognizes,
    read=read,
)
