"""Lines that Slurm's srun and slurmstepd write into the output of a job.

    slurmstepd: error: *** STEP 48.0 ON gpu009 CANCELLED AT 2026-03-01T22:46:50 DUE TO
    NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***
    srun: error: gpu[010-011]: tasks 8-23: Killed

* The node that a step is cancelled on is the one that speaks, not the one that failed:
  only of a node failure is it named, where srun says `Node failure on gpu009`.
* Tasks that end because another one did end in all ways: they name no cause.
"""

from typing import Final

import polars as pl

from ingest.sources._console.failures import batch, stamped
from ingest.sources._console.format import EachLine, LineFormat
from ingest.sources._slurm.sacct_hosts import expand
from ingest.sources._source import Batch, Reading
from ingest.tables import Failures

_CANCELLED: Final = r"\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED AT \S+"
_TASKS: Final = r"^srun: error: (\S+): tasks? [0-9,-]+: (.{1,200})$"
_NODE: Final = r"^srun: error: Node failure on (\S+)"
_MEMORY: Final = r"^slurmstepd: error: Detected [0-9]+ oom[_-]kill event"

#: Code, what a line contains, meaning, component and severity; the first that fits.
_KINDS: Final = (
    ("node_fail", _NODE, "node of the job failed", "host", "error"),
    (
        "job_node_fail",
        f"{_CANCELLED} DUE TO NODE FAILURE",
        "job was ended because a node failed",
        "host",
        "error",
    ),
    (
        "job_time_limit",
        f"{_CANCELLED} DUE TO TIME LIMIT",
        "job was ended at its time limit",
        "scheduler",
        "info",
    ),
    (
        "job_preempted",
        f"{_CANCELLED} DUE TO PREEMPTION",
        "job was ended for another one",
        "scheduler",
        "info",
    ),
    ("job_cancelled", _CANCELLED, "job was cancelled", "user", "info"),
    (
        "out_of_memory",
        _MEMORY,
        "job used more memory than it had asked for",
        "user",
        "error",
    ),
    ("worker_exit", _TASKS, "task of the job ended", None, "info"),
)

_TELLING: Final = "|".join(
    f"(?:{pattern})"
    for pattern in (_NODE, f"^slurmstepd: .*{_CANCELLED}", _TASKS, _MEMORY)
)


def _events(found: pl.DataFrame, reading: Reading) -> Batch:
    line = pl.col("line")
    kind = pl.coalesce(
        pl.when(line.str.contains(pattern)).then(pl.lit(code))
        for code, pattern, *_ in _KINDS
    )
    meanings = ("name", "component", "severity")
    events = found.with_columns(
        code=kind,
        message=line,
        line_count=pl.lit(1, pl.Int64),
        host=_hosts(found),
        **stamped(reading),
    ).with_columns(
        pl.col("code")
        .replace_strict({one[0]: one[place] for one in _KINDS}, return_dtype=pl.String)
        .alias(name)
        for place, name in enumerate(meanings, 2)
    )
    made = batch(events.explode("host"), reading)
    is_task = pl.col("code") == "worker_exit"
    rows = made.rows[Failures].with_columns(
        source=pl.when(is_task).then("source").otherwise(pl.lit("scheduler"))
    )
    return Batch({Failures: rows}, zone_used=made.zone_used)


def _hosts(lines: pl.DataFrame) -> pl.Series:
    """Return the nodes that each line names, null where it names none."""
    text = pl.coalesce(pl.col("line").str.extract(p) for p in (_NODE, _TASKS))
    names = lines.select(text)["line"]
    known = {name: (expand(name) or name).split(",") for name in names.drop_nulls()}
    hosts = [known.get(name, [None]) for name in names]
    return pl.Series("host", hosts, dtype=pl.List(pl.String))


SLURM: Final = LineFormat(
    name="slurm-step",
    version=1,
    describes="lines of srun and slurmstepd: nodes that failed, tasks that ended",
    tables=(Failures,),
    telling=_TELLING,
    start=EachLine.reader(_TELLING, _events),
)
