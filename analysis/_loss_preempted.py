"""What a restart costs others: jobs that had to make room for it."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._held_nodes import job_nodes
from analysis._host_names import host_names, spelled_alike
from analysis.attempts import Attempts
from ingest.tables import Jobs

#: States of a job that had to go, and is to come back.
_MADE_ROOM: Final = ("PREEMPTED", "REQUEUED")

_JOB: Final = ["cluster", "job_id", "start_ns"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Which jobs made room for a restart, and what each lost at most.

    Attributes:
        window_ns: How far the end of the job may lie from the start. [ns]
        most_ns: What a job loses at most. [ns]
    """

    window_ns: int
    most_ns: int


def preempted(
    stops: pl.DataFrame,
    nodes: pl.DataFrame,
    attempts: pl.DataFrame,
    jobs: pl.LazyFrame,
    limits: Limits,
) -> pl.DataFrame:
    """Find the jobs of others that ended for the attempt that follows a stop.

    They were preempted or requeued on a node that the next attempt took, shortly before
    or after it started. Each has lost what it did since its last checkpoint, which
    nobody tells: half an hour, if it ran so long. Source: arXiv 2410.21680, section
    III, "goodput loss", which takes hourly checkpoints and half an interval lost.

    Args:
        stops: Rows of Interruptions.
        nodes: Nodes held: `cluster`, `host`, `run_id`, `attempt`.
        attempts: Rows of Attempts.
        jobs: Rows of Jobs.
        limits: How near a job must end, and what it loses at most.

    Returns:
        Columns run_id, attempt, stop, planned, from_ns, to_ns (first and last end),
        gpu_ns (null where the size of no job is known), jobs_preempted and
        jobs_unsized.
    """
    state = Jobs.state.col.str.to_uppercase()
    gone = jobs.filter(state.is_in(_MADE_ROOM) & Jobs.end_ns.col.is_not_null())
    named = job_nodes(gone)
    names = host_names([nodes.lazy(), named])
    held = spelled_alike(named, names).unique().collect()
    size = gone.group_by(_JOB).agg(
        gpus=Jobs.gpu_count.col.max(), of_run=Jobs.run_id.col.max()
    )
    others = held.join(size.collect(), on=_JOB)
    starts = _next_starts(stops, attempts)
    follower = ["run_id", "_next"]
    taken = starts.join(nodes, left_on=follower, right_on=["run_id", "attempt"])
    pairs = taken.join(others, on=["cluster", "host"], suffix="_job")
    mine = pairs.join(
        attempts.select("run_id", Attempts.job_id.name).drop_nulls(),
        on=["run_id", "job_id"],
        how="anti",
    ).filter(pl.col("of_run").ne_missing(pl.col("run_id")))
    apart = (pl.col("end_ns") - pl.col("next_ns")).abs()
    near = mine.filter(apart <= limits.window_ns).with_columns(_apart=apart)
    order = [*_JOB[:2], "start_ns", "_apart", "run_id", "attempt"]
    once = near.sort(order).unique(_JOB, keep="first", maintain_order=True)
    ran = (
        (pl.col("end_ns") - pl.col("start_ns")).clip(0, limits.most_ns).cast(pl.Int128)
    )
    return once.group_by("run_id", "attempt", "stop", "planned").agg(
        from_ns=pl.col("end_ns").min(),
        to_ns=pl.col("end_ns").max(),
        gpu_ns=pl.when(pl.col("gpus").count() > 0).then((ran * pl.col("gpus")).sum()),
        jobs_preempted=pl.len().cast(pl.Int64),
        jobs_unsized=pl.col("gpus").null_count().cast(pl.Int64),
    )


def _next_starts(stops: pl.DataFrame, attempts: pl.DataFrame) -> pl.DataFrame:
    """Return stops with `_next`, the attempt that followed, and when it started."""
    following = attempts.sort("run_id", "start_ns", "attempt").select(
        "run_id",
        _next=pl.col("attempt").shift(-1).over("run_id"),
        attempt="attempt",
        next_ns=pl.col("start_ns").shift(-1).over("run_id"),
    )
    ended = stops.filter(pl.col("kind") == "end")
    told = ended.join(following, on=["run_id", "attempt"]).drop_nulls("next_ns")
    return told.select("run_id", "attempt", "stop", "planned", "_next", "next_ns")
