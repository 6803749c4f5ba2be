"""How often each run should save: what its interval costs, and what the best would."""

from typing import Any, ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._checkpoint_advice import advised
from analysis._checkpoint_columns import per_day
from analysis._checkpoint_curve import curve_of
from analysis._checkpoint_methods import METHODS, plans_of
from analysis.checkpoint_evidence import CheckpointEvidence
from analysis.checkpoint_replays import CheckpointReplays
from ingest.tables import Table
from ingest.tables import _columns as c


class CheckpointPlans(Table):
    """One row per run and method."""

    key: ClassVar = ("run_id", "method")

    run_id = c.identifier("Run.")
    method = c.choice(
        "How the interval was chosen: as it is, Young, Daly of higher order, the exact"
        " optimum, or nested levels.",
        METHODS,
    )
    interval_ns = c.duration_ns(
        "Work between two saves, without the stall; of levels, that of the near one.",
        nullable=True,
    )
    interval_low_ns = c.duration_ns(
        "The same at the lower end of the MTBF.", nullable=True
    )
    interval_high_ns = c.duration_ns(
        "The same at its upper end; null where unbounded.", nullable=True
    )
    interval_steps = c.number("The interval in steps, one at least.", nullable=True)
    far_interval_ns = c.duration_ns(
        "Work between two saves to the far tier, for levels.", nullable=True
    )
    limited_by = c.choice(
        "What sets the interval: its cost, the time until a save is safe, one step.",
        ("cost", "flush", "step"),
        nullable=True,
    )
    waste_ratio = c.ratio("Share of time that is not useful work.", nullable=True)
    waste_low_ratio = c.ratio("The same at the upper end of the MTBF.", nullable=True)
    waste_high_ratio = c.ratio("The same at its lower end.", nullable=True)
    write_ratio = c.ratio("Part of it in stalls of saves.", nullable=True)
    rework_ratio = c.ratio("Part of it in work that is done again.", nullable=True)
    restart_ratio = c.ratio("Part of it in downtime and restarts.", nullable=True)
    saved_gpu_ns_per_day = per_day(
        "GPU time of a day, in ns, that would be useful work instead, against the"
        " interval in use; negative where it would be less."
    )
    saved_low_gpu_ns_per_day = per_day("Least of it over the range of the MTBF.")
    saved_high_gpu_ns_per_day = per_day("Most of it over the range of the MTBF.")
    half_mtbf_ratio = c.ratio(
        "Waste added by planning with half the MTBF (exact only).", nullable=True
    )
    double_mtbf_ratio = c.ratio(
        "Waste added by planning with twice the MTBF (exact only).", nullable=True
    )
    reason = c.text("Why a number is not known, or is rough.")
    withheld = c.text(
        "Why the interval is no advice although it would cost least: the run's own"
        " interruptions refute the rate, it is longer than the run, its gain may be a"
        " loss, or the run's own interruptions, replayed, lose by it."
    )


class CheckpointCurves(Table):
    """One row per run and interval: what each interval would waste."""

    key: ClassVar = ("run_id", "interval_ns")

    run_id = c.identifier("Run.")
    interval_ns = c.duration_ns("Work between two saves, without the stall.")
    write_ratio = c.ratio("Share of time in stalls of saves that were kept.")
    rework_ratio = c.ratio("Share of time in work that a failure undid.")
    restart_ratio = c.ratio("Share of time in downtime and restarts.")
    waste_ratio = c.ratio("Share of time that is not useful work.")
    waste_low_ratio = c.ratio("The same at the upper end of the MTBF.", nullable=True)
    waste_high_ratio = c.ratio("The same at its lower end.", nullable=True)


def plan_checkpoints(
    evidence: pl.DataFrame, replays: pl.DataFrame | None = None
) -> Results:
    """Say what each way to choose an interval would cost each run.

    Shares are those of the exact renewal form, under failures without memory; of
    levels, those of the closed form. A save is never begun before the last is safe, and
    never more often than once in a step.

    Args:
        evidence: Rows of CheckpointEvidence.
        replays: Rows of CheckpointReplays, where there are any.

    Returns:
        Plans of each run, and the curve of those whose stall and MTBF are known.
    """
    runs = list(evidence.sort("run_id").iter_rows(named=True))
    best = {} if replays is None else _at_best(replays)
    plans = [
        plan
        for run in runs
        for plan in advised(run, list(plans_of(run)), best.get(run["run_id"]))
    ]
    curves = [point for run in runs for point in curve_of(run)]
    return {
        table: pl.DataFrame(rows, schema=table.create_empty().schema)
        for table, rows in ((CheckpointPlans, plans), (CheckpointCurves, curves))
    }


def _at_best(replays: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Return the replay of each run at its best interval."""
    rows = replays.filter(pl.col("scenario") == "best_interval")
    return {row["run_id"]: row for row in rows.to_dicts()}


def _compute(frames: Frames, _: Thresholds) -> Results:
    return plan_checkpoints(
        frames[CheckpointEvidence].collect(), frames[CheckpointReplays].collect()
    )


ANALYSIS: Final = Analysis(
    name="checkpoint_plans",
    version=2,
    describes="How often runs should save, and what another interval would waste",
    inputs=(CheckpointEvidence, CheckpointReplays),
    needs=(CheckpointEvidence,),
    outputs=(CheckpointPlans, CheckpointCurves),
    compute=_compute,
)
