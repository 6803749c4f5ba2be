"""Windows of the attempts of a run, from the best that tells of them."""

from typing import Final

import polars as pl

from analysis._ledger_log import StepLog
from analysis._ledger_restarts import number_spells

#: Columns of every window below.
_WINDOW: Final = ("run_id", "attempt", "start_ns", "end_ns")


def windows_of_jobs(jobs: pl.LazyFrame, seen: pl.LazyFrame) -> pl.LazyFrame:
    """Number the jobs of each run in order of start; a running one ends when last seen.

    Args:
        jobs: What `jobs_of_runs` returns.
        seen: Columns run_id and end_ns of all that was seen of the run.
    """
    last = seen.group_by("run_id").agg(last_ns=pl.col("end_ns").max())
    numbered = jobs.join(last, on="run_id", how="left").sort(
        "run_id", "start_ns", "job_id"
    )
    is_last = pl.int_range(pl.len()).over("run_id") == pl.len().over("run_id") - 1
    return numbered.with_columns(
        attempt=pl.int_range(pl.len(), dtype=pl.Int32).over("run_id"),
        end_ns=pl.coalesce("end_ns", "last_ns", "start_ns"),
        job_end_ns="end_ns",
        is_running=pl.col("end_ns").is_null() & is_last,
        basis=pl.lit("jobs"),
    ).drop("last_ns")


def windows_of_steps(log: StepLog, restarts: pl.LazyFrame) -> pl.LazyFrame:
    """Take attempts from the step log: those that it names, else from its restarts."""
    by = ("run_id", "attempt", "spell")
    bounds = (pl.col("start_ns").min(), pl.col("end_ns").max())
    spells = [
        number_spells(portion, restarts).group_by(by).agg(bounds).collect()
        for portion in log
    ]
    rows = pl.concat([_NO_SPELLS, *spells]).lazy()
    named = rows.filter(pl.col("attempt").is_not_null())
    detected = rows.join(named, on="run_id", how="anti").with_columns(
        attempt=pl.col("spell").cast(pl.Int32)
    )
    return _bounds(
        pl.concat([named.select(_WINDOW), detected.select(_WINDOW)]), "steps"
    )


_NO_SPELLS: Final = pl.DataFrame(
    schema={
        "run_id": pl.String,
        "attempt": pl.Int32,
        "spell": pl.Int64,
        "start_ns": pl.Int64,
        "end_ns": pl.Int64,
    }
)


def windows_of_traces(traced: pl.LazyFrame) -> pl.LazyFrame:
    """Take attempts from traces: those that they name, else one for each run."""
    return _bounds(traced.with_columns(pl.col("attempt").fill_null(0)), "traces")


def _bounds(rows: pl.LazyFrame, basis: str) -> pl.LazyFrame:
    grouped = rows.group_by("run_id", "attempt").agg(
        pl.col("start_ns").min(), pl.col("end_ns").max()
    )
    return grouped.with_columns(
        is_running=pl.lit(value=False),
        basis=pl.lit(basis),
        job_end_ns=pl.lit(None, pl.Int64),
    )


def end_before_next(windows: pl.LazyFrame) -> pl.LazyFrame:
    """Let no attempt last longer than until the next of its run starts.

    A GPU is never paid for twice at the same time. That is not the end of its job:
    `job_end_ns` keeps that.
    """
    ordered = windows.sort("run_id", "start_ns", "attempt")
    following = pl.col("start_ns").shift(-1).over("run_id")
    end = pl.max_horizontal("start_ns", pl.min_horizontal("end_ns", following))
    return ordered.with_columns(end_ns=end)
