"""One row per attempt of a run."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._ledger_attempts import (
    end_before_next,
    windows_of_jobs,
    windows_of_steps,
    windows_of_traces,
)
from analysis._ledger_evidence import Marks, place_known, seats_seen, traced_work
from analysis._ledger_jobs import jobs_of_runs
from analysis._ledger_log import PORTION_ROWS, read_log
from analysis._ledger_progress import completed_steps, shown_steps
from analysis._ledger_restarts import find_restarts, number_spells
from analysis.placing import in_calendar
from ingest.tables import (
    Collectives,
    Jobs,
    Kernels,
    Operations,
    RunCards,
    StepTimings,
    Table,
)
from ingest.tables import _columns as c


class Attempts(Table):
    """One row per attempt of a run."""

    key: ClassVar = ("run_id", "attempt")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    cluster = c.identifier("Cluster that it ran on.", nullable=True)
    job_id = c.identifier("Scheduler job, where one is known.", nullable=True)
    basis = c.choice(
        "What the start and end were taken from.", ("jobs", "steps", "traces")
    )
    state = c.identifier("State that the job ended in.", nullable=True)
    submit_ns = c.time_ns("When it was submitted or requeued.", nullable=True)
    start_ns = c.time_ns("When it started.")
    end_ns = c.time_ns("When it ended; the last time seen while it runs.")
    is_running = c.flag("Whether it had not ended when last seen.")
    first_step = c.number("First step that it completed.", nullable=True)
    last_step = c.number("Last step that it completed, by time.", nullable=True)
    last_step_end_ns = c.time_ns(
        "End of the last step that every rank completed.", nullable=True
    )
    step_basis = c.choice(
        "Where its steps were seen; traces are samples, a step log is not.",
        ("steps", "traces"),
        nullable=True,
    )
    resumed_step = c.number(
        "Step that it resumed from, where it repeats any.", nullable=True
    )
    gpu_count = c.count("GPUs of the job, else ranks seen.", nullable=True)
    hosts = c.text("Nodes that it held, separated by commas.")


def find_attempts(
    frames: Frames, portion_rows: int = PORTION_ROWS
) -> dy.DataFrame[Attempts]:
    """Find the attempts of every run and the steps that each completed.

    Attempts are the jobs of a run; without any, those that its step log names or that
    show in its step numbers; without a step log, one for what its traces hold.

    Args:
        frames: Run cards, jobs, step timings, kernels, operations and collectives.
        portion_rows: Rows of step logs to hold at once. [1]

    Returns:
        One row per attempt. No attempt of a run lasts into the next.
    """
    traced = traced_work(frames[Kernels], frames[Operations], frames[Collectives])
    jobs = jobs_of_runs(frames[Jobs], frames[RunCards])
    steps = in_calendar(frames[StepTimings], traced, jobs)
    log = read_log(steps, traced, portion_rows)
    marks = Marks(log, in_calendar(traced, log.rows, jobs))
    restarts = find_restarts(marks)
    windows = _windows(jobs, marks, restarts).collect().lazy()
    placed = (place_known(number_spells(one, restarts), windows) for one in marks)
    completed = completed_steps(shown_steps(placed))
    gpus = seats_seen(log, traced, windows).group_by(_ATTEMPT).agg(seen=pl.len())
    cards = frames[RunCards].select("run_id", card="cluster")
    rows = (
        windows.join(completed, on=_ATTEMPT, how="left")
        .join(gpus, on=_ATTEMPT, how="left")
        .join(cards, on="run_id", how="left")
    )
    described = _describe(rows).select(Attempts.column_names()).sort(Attempts.key)
    return Attempts.validate(described.collect(), cast=True)


_ATTEMPT: Final = ["run_id", "attempt"]


def _windows(jobs: pl.LazyFrame, marks: Marks, restarts: pl.LazyFrame) -> pl.LazyFrame:
    """Take the windows of each run from the best that tells of them."""
    ends = [one.select("run_id", "end_ns") for one in (marks.log.rows, marks.traced)]
    of_jobs = windows_of_jobs(jobs, pl.concat(ends))
    logged = windows_of_steps(marks.log, restarts)
    of_steps = logged.join(of_jobs, on="run_id", how="anti")
    better = pl.concat([of_jobs, of_steps], how="diagonal")
    traced = windows_of_traces(marks.traced)
    of_traces = traced.join(better, on="run_id", how="anti")
    return end_before_next(pl.concat([better, of_traces], how="diagonal"))


def _describe(rows: pl.LazyFrame) -> pl.LazyFrame:
    start, end = Attempts.start_ns.col, Attempts.end_ns.col
    highest = pl.col("max_step").cum_max().forward_fill().shift(1).over("run_id")
    return rows.sort("run_id", "start_ns", "attempt").with_columns(
        cluster=pl.coalesce("cluster", "card"),
        gpu_count=pl.coalesce("gpu_count", "seen"),
        last_step_end_ns=Attempts.last_step_end_ns.col.clip(start, end),
        resumed_step=pl.when(Attempts.first_step.col <= highest).then(
            Attempts.first_step.col
        ),
    )


def _compute(frames: Frames, _: Thresholds) -> Results:
    return {Attempts: find_attempts(frames)}


ANALYSIS: Final = Analysis(
    name="attempts",
    version=6,
    describes="When each attempt of a run ran, and the steps that it completed",
    inputs=(RunCards, Jobs, StepTimings, Kernels, Operations, Collectives),
    outputs=(Attempts,),
    compute=_compute,
)
