"""One row per attempt of a run."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._attempts_seen import Seen, look
from analysis._ledger_evidence import seats_seen
from analysis._ledger_log import PORTION_ROWS
from analysis._ledger_progress import completed_steps
from analysis._step_pauses import find_pauses
from analysis.rank_hours import RankHours
from analysis.step_rollups import StepRollups
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
from ingest.times import SECOND_NS

#: Shortest time without a step that is told: no step of a large run is so long, and a
#: run that stands still for a minute costs more than a checkpoint does.
PAUSE_S: Final = 60.0


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
    cancelled_by = c.identifier("User who cancelled the job.", nullable=True)
    restart_count = c.count(
        "Times that its job had been started before, as the scheduler counts.",
        nullable=True,
    )
    submit_ns = c.time_ns("When it was submitted or requeued.", nullable=True)
    start_ns = c.time_ns("When it started.")
    end_ns = c.time_ns("When it ended; the last time seen while it runs.")
    job_end_ns = c.time_ns(
        "When its job ended, which is after `end_ns` where another job of the run had"
        " begun before; null where no job tells.",
        nullable=True,
    )
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


class StepPauses(Table):
    """One row per time inside an attempt in which no step was completed."""

    key: ClassVar = ("run_id", "attempt", "pause")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    pause = c.index("Position among the pauses of the attempt.")
    from_ns = c.time_ns("End of the last step before.")
    to_ns = c.time_ns("Start of the first step after.")
    step_before = c.number("Last step before.")
    step_after = c.number("First step after.")
    went_back = c.flag("Whether the run did steps again afterwards.")


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
    return _described(frames, look(frames, portion_rows))


def _described(frames: Frames, seen: Seen) -> dy.DataFrame[Attempts]:
    completed = completed_steps(seen.shown)
    seats = seats_seen(seen.log, seen.traced, seen.windows, frames[RankHours])
    gpus = seats.group_by(_ATTEMPT).agg(seen=pl.len())
    cards = frames[RunCards].select("run_id", card="cluster")
    rows = (
        seen.windows.join(completed, on=_ATTEMPT, how="left")
        .join(gpus, on=_ATTEMPT, how="left")
        .join(cards, on="run_id", how="left")
    )
    described = _describe(rows).select(Attempts.column_names()).sort(Attempts.key)
    return Attempts.validate(described.collect(), cast=True)


_ATTEMPT: Final = ["run_id", "attempt"]


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


def _compute(frames: Frames, thresholds: Thresholds) -> Results:
    seen = look(frames, PORTION_ROWS)
    pause_ns = round(thresholds.get("step_pause_s", PAUSE_S) * SECOND_NS)
    pauses = find_pauses(seen.shown, pause_ns).select(StepPauses.column_names())
    return {
        Attempts: _described(frames, seen),
        StepPauses: StepPauses.validate(pauses.collect(), cast=True),
    }


ANALYSIS: Final = Analysis(
    name="attempts",
    version=10,
    describes="When each attempt of a run ran, and the steps that it completed",
    inputs=(
        *(RunCards, Jobs, StepTimings, StepRollups, RankHours),
        *(Kernels, Operations, Collectives),
    ),
    outputs=(Attempts, StepPauses),
    compute=_compute,
    thresholds={"step_pause_s": PAUSE_S},
)
