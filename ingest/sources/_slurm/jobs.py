"""Rows of Jobs from the fields of Slurm's listings, by the names that sacct has."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

import polars as pl

from ingest.sources._slurm.cells import (
    elapsed,
    given,
    gpus,
    instant,
    is_naive,
    old_gpus,
    whole,
)
from ingest.sources._slurm.fields import HINTS, TIMES, rule, with_fields
from ingest.sources._slurm.sacct_hosts import NO_NODE, expand_all
from ingest.sources._slurm.states import OPEN, WAITING, cancelled_by, state
from ingest.sources._source import Batch, Reading, Refusal
from ingest.tables import Jobs, Table

#: Times of a job, and what each is not before.
_FOLLOWS: Final = {"start_ns": "submit_ns", "end_ns": "start_ns"}


@dataclass(frozen=True, slots=True)
class JobRows:
    """Rows of Jobs, and what could not become one."""

    rows: pl.DataFrame
    refused: tuple[Refusal, ...]
    zone_used: bool

    def batch(self, records: int, repairs: int = 0) -> Batch:
        """Return both as a batch."""
        rows: dict[type[Table], pl.DataFrame] = (
            {Jobs: self.rows} if len(self.rows) else {}
        )
        return Batch(rows, self.refused, records, repairs, self.zone_used)


def job_rows(fields: pl.DataFrame, reading: Reading) -> JobRows:
    """Make rows of jobs.

    Args:
        fields: `place`, `raw` (the record as it was found) and the columns of FIELDS,
            all text.
        reading: What is known about the file.
    """
    rows = _placed(_listed(with_fields(fields)), reading)
    bad = rows.filter(pl.col("rule").is_not_null())
    return JobRows(
        rows.filter(pl.col("rule").is_null()).drop("rule", "naive", "raw"),
        tuple(_refusals(bad.select("place", "rule", "raw").iter_rows())),
        bool(rows["naive"].any()),
    )


def count_restarts(jobs: pl.DataFrame) -> pl.DataFrame:
    """Number the attempts of each job by their start; one that never started is last.

    For files that do not tell how often a job was restarted.
    """
    job = ("scheduler_cluster", "job_id")
    ordered = jobs.sort(*job, "start_ns", "submit_ns", nulls_last=True)
    position = pl.int_range(pl.len(), dtype=pl.Int64).over(job)
    return ordered.with_columns(restart_count=position)


def _refusals(rows: Iterable[tuple[str, str, str]]) -> Iterable[Refusal]:
    for place, broken, raw in rows:
        yield Refusal(Jobs, place, broken, raw, HINTS.get(broken))


def _listed(jobs: pl.DataFrame) -> pl.DataFrame:
    """Add `hosts`, each list expanded once; null and `bad_hosts` where it is none."""
    lists = jobs["NodeList"].drop_nulls().unique(maintain_order=True)
    known = expand_all(text for text in lists if text not in NO_NODE)
    hosts = pl.col("NodeList").replace_strict(
        list(known), list(known.values()), default=None, return_dtype=pl.String
    )
    bad = [text for text, names in known.items() if names is None]
    return jobs.with_columns(hosts=hosts, bad_hosts=pl.col("NodeList").is_in(bad))


def _placed(jobs: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return rows of Jobs with `place`, `rule` (why refused), `naive` and `raw`."""
    timed = jobs.with_columns(
        *(instant(field, reading.zone).alias(name) for name, field in TIMES.items()),
        state(),
        naive=pl.any_horizontal(is_naive(field) for field in TIMES.values()),
    )
    assumed = pl.col("naive") & (reading.zone_basis == "assumed")
    quality = pl.when(assumed).then(pl.lit("zone_assumed"))
    return (
        _in_order(timed, reading.zone)
        .with_columns(rule=rule())
        .with_columns(_ends())
        .select(
            *_columns(reading),
            *TIMES,
            "state",
            "hosts",
            "place",
            "rule",
            "naive",
            "raw",
            time_quality=quality.otherwise(pl.lit("exact")),
        )
    )


def _in_order(jobs: pl.DataFrame, zone: tzinfo) -> pl.DataFrame:
    """Take the second of two times that a clock shows where that alone is in order."""
    for name, before in _FOLLOWS.items():
        second = instant(TIMES[name], zone, "latest")
        since = pl.col(before)
        is_second = (pl.col(name) < since) & (second >= since)
        time = pl.when(is_second).then(second).otherwise(name)
        jobs = jobs.with_columns(time.alias(name))
    return jobs


def _ends() -> list[pl.Expr]:
    """Return start and end without forecasts, and those that an elapsed time gives."""
    took = pl.coalesce(elapsed("Elapsed"), whole("ElapsedRaw") * 1_000_000_000)
    start, end, words = pl.col("start_ns"), pl.col("end_ns"), pl.col("state")
    untold = {name: pl.col(name).is_null() for name in ("Start", "End")}
    return [
        pl.when(~words.is_in(WAITING))
        .then(pl.when(untold["Start"]).then(end - took).otherwise(start))
        .alias("start_ns"),
        pl.when(~words.is_in(OPEN))
        .then(pl.when(untold["End"]).then(start + took).otherwise(end))
        .alias("end_ns"),
    ]


def _columns(reading: Reading) -> list[pl.Expr]:
    """Return the columns of Jobs that are neither times nor nodes."""
    ended = pl.col("ExitCode").str.extract_groups(r"^([0-9]{1,9}):([0-9]{1,9})$")
    nodes = pl.coalesce(whole("NNodes"), whole("AllocNodes"))
    return [
        pl.lit(reading.cluster).alias("cluster"),
        given("Cluster").alias("scheduler_cluster"),
        _run(reading).alias("run_id"),
        pl.col("JobID").alias("job_id"),
        pl.col("JobName").alias("job_name"),
        whole("Restarts").fill_null(0).alias("restart_count"),
        ended.struct[0].cast(pl.Int64).alias("exit_code"),
        ended.struct[1].cast(pl.Int64).alias("exit_signal"),
        *(given(name).alias(name.lower()) for name in ("Reason", "QOS", "Account")),
        nodes.alias("node_count"),
        pl.coalesce(
            gpus("AllocTRES"),
            gpus("ReqTRES"),
            old_gpus("AllocGRES", nodes),
            old_gpus("ReqGRES", nodes),
        ).alias("gpu_count"),
        cancelled_by(),
    ]


def _run(reading: Reading) -> pl.Expr:
    """Return the run of a job that is called like it, where the run was declared."""
    if reading.run_id_basis == "folder":
        return pl.lit(None, pl.String)
    return pl.when(pl.col("JobName") == reading.run_id).then(pl.lit(reading.run_id))
