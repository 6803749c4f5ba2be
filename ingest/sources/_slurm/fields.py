"""Fields of Slurm's listings of jobs, by the names that sacct has, and their rules."""

from typing import Final
from zoneinfo import ZoneInfo

import polars as pl

from ingest.sources._slurm.cells import given, instant
from ingest.sources._slurm.states import OPEN

#: Fields that are read; the others of a listing are skipped.
FIELDS: Final = (
    "JobID",
    "JobIDRaw",
    "JobName",
    "State",
    "Submit",
    "Eligible",
    "Start",
    "End",
    "Elapsed",
    "ElapsedRaw",
    "ExitCode",
    "NodeList",
    "NNodes",
    "AllocNodes",
    "AllocTRES",
    "ReqTRES",
    "AllocGRES",
    "ReqGRES",
    "Restarts",
    "Reason",
    "QOS",
    "Account",
    "Cluster",
)

#: Times of a job by the fields that tell them.
TIMES: Final = {
    "submit_ns": "Submit",
    "eligible_ns": "Eligible",
    "start_ns": "Start",
    "end_ns": "End",
}

#: What was expected where a rule is broken.
HINTS: Final = {
    "time": "times as 2025-01-15T10:00:00, seconds since the epoch, or Unknown",
    "time|no_such_time": "hours that the zone has: clocks went past one; a wrong zone"
    " would explain it",
    "end_ns|order": "an end that is not before its start",
    "node_list": "a list such as node[01-04,07], not cut (sacct --parsable2) and"
    " with those before it not of millions of nodes",
    "job_id_cut": "sacct --parsable2, which cuts no cell",
}


def with_fields(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the fields that a listing does not have, as null."""
    missing = [name for name in FIELDS if name not in frame.columns]
    return frame.with_columns(pl.lit(None, pl.String).alias(name) for name in missing)


def rule() -> pl.Expr:
    """Return the rule that a job breaks, null where it breaks none."""
    wrong_time = pl.any_horizontal(
        given(field).is_not_null() & pl.col(name).is_null()
        for name, field in TIMES.items()
    )
    skipped = pl.any_horizontal(
        pl.col(name).is_null() & instant(field, ZoneInfo("UTC")).is_not_null()
        for name, field in TIMES.items()
    )
    is_over = ~pl.col("state").is_in(OPEN)
    return (
        pl.when(pl.col("JobID").fill_null("") == "")
        .then(pl.lit("job_id_missing"))
        .when(pl.col("JobID").str.ends_with("+"))
        .then(pl.lit("job_id_cut"))
        .when(pl.col("state").fill_null("") == "")
        .then(pl.lit("state_missing"))
        .when(skipped)
        .then(pl.lit("time|no_such_time"))
        .when(wrong_time)
        .then(pl.lit("time"))
        .when(is_over & (pl.col("end_ns") < pl.col("start_ns")))
        .then(pl.lit("end_ns|order"))
        .when(pl.col("bad_hosts").fill_null(value=False))
        .then(pl.lit("node_list"))
    )
