"""What a run would have kept had it saved or restarted otherwise, or held spares."""

from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._checkpoint_columns import per_day
from analysis._checkpoint_replay_rows import replays_of
from analysis._checkpoint_scenarios import SCENARIOS
from analysis._checkpoint_units import units_of
from analysis.attempts import Attempts
from analysis.checkpoint_evidence import CheckpointEvidence
from analysis.interruptions import Interruptions
from ingest.tables import Table
from ingest.tables import _columns as c


class CheckpointReplays(Table):
    """One row per run and scenario: its own stops, replayed."""

    key: ClassVar = ("run_id", "scenario")

    run_id = c.identifier("Run.")
    scenario = c.choice(
        "What is changed: nothing, the interval, the restart, the spare nodes.",
        SCENARIOS,
    )
    interval_ns = c.duration_ns("Work between two saves.", nullable=True)
    restart_ns = c.duration_ns("Time from a start to the first step.", nullable=True)
    spare_count = c.count("Spare nodes; null where as it was.", nullable=True)
    stop_count = c.count("Attempts that were replayed.")
    failure_count = c.count("Unplanned interruptions among them.")
    ettr_ratio = c.ratio(
        "Useful work over the time from first start to last stop.", nullable=True
    )
    drawn_ratio = c.ratio(
        "Mean over histories drawn from the run's stops, each moved inside its period.",
        nullable=True,
    )
    error_ratio = c.ratio(
        "Standard error of that for a history as long as the run's.", nullable=True
    )
    exact_ratio = c.ratio(
        "The same by the exact form, at the run's own mean times.", nullable=True
    )
    change_ratio = c.ratio(
        "What the drawn mean is above that as it was.", minimum=None, nullable=True
    )
    change_error_ratio = c.ratio(
        "Standard error of the change, both drawn alike.", nullable=True
    )
    rework_ns = c.duration_ns("Run time that failures undid.", nullable=True)
    seen_rework_ns = c.duration_ns(
        "Steps that the run really did again, each as long as its median step, for the"
        " replay as it was; the ledger's recompute adds up their own lengths.",
        nullable=True,
    )
    waiting_ns = c.duration_ns("Run time spent waiting for a node.", nullable=True)
    saved_gpu_ns_per_day = per_day(
        "GPU time of a day, in ns, that would be useful work instead; negative where it"
        " would be less."
    )
    reason = c.text("Why a number is not known, or is rough.")


def replay_runs(
    evidence: pl.DataFrame, attempts: pl.DataFrame, interruptions: pl.DataFrame
) -> pl.DataFrame:
    """Replay each run's own stops under other intervals, restarts and spares.

    Stops stay where they were in the time that the run was up: a replay changes what
    they undo, and how long the run is away.

    Args:
        evidence: Rows of CheckpointEvidence.
        attempts: Rows of Attempts.
        interruptions: Rows of Interruptions.

    Returns:
        Rows of CheckpointReplays for each run with evidence.
    """
    units = units_of(attempts, interruptions).partition_by("run_id", as_dict=True)
    lost = _redone(interruptions)
    none = units_of(attempts.clear(), interruptions.clear())
    rows = [
        row
        for run in evidence.sort("run_id").iter_rows(named=True)
        for row in replays_of(
            run, units.get((run["run_id"],), none), lost.get(run["run_id"])
        )
    ]
    return pl.DataFrame(rows, schema=CheckpointReplays.create_empty().schema)


def _redone(interruptions: pl.DataFrame) -> dict[str, int]:
    """Return the steps that each run did again after unplanned stops."""
    told = interruptions.filter(~pl.col("planned") & pl.col("lost_steps").is_not_null())
    sums = told.group_by("run_id").agg(pl.col("lost_steps").sum())
    return dict(sums.iter_rows())


def _compute(frames: Frames, _: Thresholds) -> Results:
    found = replay_runs(
        frames[CheckpointEvidence].collect(),
        frames[Attempts].collect(),
        frames[Interruptions].collect(),
    )
    return {CheckpointReplays: found}


ANALYSIS: Final = Analysis(
    name="checkpoint_replays",
    version=2,
    describes="What another interval, restart or spare would have kept of runs",
    inputs=(CheckpointEvidence, Attempts, Interruptions),
    needs=(CheckpointEvidence,),
    outputs=(CheckpointReplays,),
    compute=_compute,
)
