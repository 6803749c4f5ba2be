"""What was seen of the runs: windows of their attempts, and steps in them."""

from dataclasses import dataclass

import polars as pl

from analysis._analysis import Frames
from analysis._ledger_attempts import (
    end_before_next,
    windows_of_jobs,
    windows_of_steps,
    windows_of_traces,
)
from analysis._ledger_evidence import Marks, place_known, traced_work
from analysis._ledger_jobs import jobs_of_runs
from analysis._ledger_log import StepLog, read_log
from analysis._ledger_progress import shown_steps
from analysis._ledger_restarts import find_restarts, number_spells
from analysis._step_rollup_log import ranked_steps
from analysis.placing import in_calendar
from ingest.tables import (
    Collectives,
    Jobs,
    Kernels,
    Operations,
    RunCards,
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of the runs.

    Attributes:
        log: The step logs.
        traced: What `traced_work` returns.
        windows: Windows of the attempts.
        shown: What `shown_steps` returns.
    """

    log: StepLog
    traced: pl.LazyFrame
    windows: pl.LazyFrame
    shown: pl.LazyFrame


def look(frames: Frames, portion_rows: int) -> Seen:
    """Look for attempts and steps in all that tells of them.

    Args:
        frames: Run cards, jobs, step timings, kernels, operations and collectives.
        portion_rows: Rows of step logs to hold at once. [1]
    """
    traced = traced_work(frames[Kernels], frames[Operations], frames[Collectives])
    jobs = jobs_of_runs(frames[Jobs], frames[RunCards])
    steps = in_calendar(_spanned(frames), traced, jobs)
    log = read_log(steps, traced, portion_rows)
    marks = Marks(log, in_calendar(traced, log.rows, jobs))
    restarts = find_restarts(marks)
    windows = _windows(jobs, marks, restarts).collect().lazy()
    placed = (place_known(number_spells(one, restarts), windows) for one in marks)
    return Seen(log, traced, windows, shown_steps(placed))


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


def _spanned(frames: Frames) -> pl.LazyFrame:
    """Return step timings in which a step lasts until its last rank has left it."""
    steps = ranked_steps(frames)
    if "ranks" not in steps.collect_schema().names():
        return steps
    span = pl.col("last_end_ns") - pl.col("start_ns")
    each = span // pl.col("step_count").fill_null(1)
    return steps.with_columns(duration_ns=pl.coalesce(each, "duration_ns"))
