"""Where the time of each interruption went, phase by phase."""

from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._held_nodes import held_nodes
from analysis._ledger_log import PORTION_ROWS
from analysis._loss_booked import booked_phases
from analysis._loss_edges import Edges
from analysis._loss_moments import RESTART_PHASES
from analysis._loss_preempted import Limits, preempted
from analysis._loss_recompute import share_recompute
from analysis._loss_unknown import blank_unknown
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.interruptions import Interruptions
from analysis.lost_time import LostTime
from analysis.overlap import Overlap
from analysis.step_rollups import StepRollups
from ingest.tables import Jobs, StepTimings, Table
from ingest.tables import _columns as c
from ingest.times import SECOND_NS

#: How far from the start of an attempt the end of another job may lie, and still it
#: made room for it: schedulers give jobs that must go some minutes to write a
#: checkpoint.
PREEMPTED_WITHIN_S: Final = 300.0

#: What a job loses that had to make room: half of an hourly checkpoint's interval
#: (arXiv 2410.21680, section III).
PREEMPTED_LOSS_S: Final = 1_800.0

#: Phases of an interruption, in order, and what a run's first start and its end take.
PHASES: Final = ("first_start", *RESTART_PHASES, "recompute", "second_order", "end")

_TOTAL: Final = pl.Decimal(38, 0)


class LossPhases(Table):
    """One row per interruption and phase.

    The phases of account restart add up to what the ledger books as restart, those of
    account recompute to its recompute, over any run, to the nanosecond. Where nothing
    tells when an attempt was training, the ledger books neither, and the phase is null.
    """

    key: ClassVar = ("run_id", "attempt", "stop", "phase")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt that was interrupted.")
    stop = c.index(
        "Interruption of the attempt; null for what belongs to none: the first start of"
        " a run, and the time after the last step of an attempt that was done.",
        nullable=True,
    )
    planned = c.flag("Whether the interruption was meant.", nullable=True)
    phase = c.choice(
        "hang: last completed step to the first sign; detect: to the end of the"
        " attempt; decide: to its resubmission; requeue: to the next start; start: to"
        " the first new step; recompute: steps done again; second_order: jobs of others"
        " that had to make room.",
        PHASES,
    )
    from_ns = c.time_ns("Start of the phase.", nullable=True)
    to_ns = c.time_ns("End of the phase.", nullable=True)
    duration_ns = c.duration_ns("How long it took; null: not known.", nullable=True)
    gpu_ns = c.gpu_time_ns(
        "GPU time in it, paid by the run; of second_order, lost by others, as far as"
        " their sizes are known. Null: not known; 0 where it cost nothing, or is part"
        " of the phase before or after it.",
        nullable=True,
    )
    account = c.choice(
        "Account of the ledger that it is booked to; null for what others lost.",
        ("restart", "recompute", "unattributed"),
        nullable=True,
    )
    jobs_preempted = c.number(
        "Jobs that had to make room, of second_order.", nullable=True
    )
    jobs_unsized = c.number(
        "Those whose size is not known: what they lost is not in `gpu_ns`.",
        nullable=True,
    )


def find_phases(
    frames: Frames, thresholds: Thresholds, portion_rows: int = PORTION_ROWS
) -> pl.DataFrame:
    """Cut what each interruption cost into phases.

    Args:
        frames: Interruptions, attempts, GPUs, allocations, overlap, step timings, lost
            time and jobs.
        thresholds: Those of jobs that make room.
        portion_rows: Rows of step logs to hold at once. [1]

    Returns:
        Rows of LossPhases, in the order of the key.
    """
    stops = frames[Interruptions].collect()
    attempts = frames[Attempts].collect()
    edges = Edges(frames, portion_rows)
    restarts, recompute = (_booked(frames, one) for one in ("restart", "recompute"))
    held = _held(frames)
    booked = booked_phases(stops, attempts, edges, held, restarts)
    redone = share_recompute(recompute, stops, edges.redone()).with_columns(
        phase=pl.lit("recompute"), account=pl.lit("recompute")
    )
    rest = preempted(
        stops,
        held_nodes(frames[Attempts], frames[Gpus])
        .select("cluster", "host", "run_id", "attempt")
        .collect(),
        attempts,
        frames[Jobs],
        Limits(
            window_ns=round(thresholds["preempted_within_s"] * SECOND_NS),
            most_ns=round(thresholds["preempted_loss_s"] * SECOND_NS),
        ),
    ).with_columns(phase=pl.lit("second_order"))
    own = pl.concat([booked, redone], how="diagonal_relaxed")
    known = blank_unknown(own, stops, attempts, edges.told(), held)
    rows = pl.concat([known, rest], how="diagonal_relaxed")
    lasted = pl.col("to_ns") - pl.col("from_ns")
    told = rows.with_columns(
        pl.col("gpu_ns").cast(_TOTAL),
        duration_ns=pl.when(pl.col("phase") != "second_order").then(lasted.clip(0)),
    )
    ordered = told.select(LossPhases.column_names()).sort(LossPhases.key)
    return LossPhases.validate(ordered, cast=True)


def _held(frames: Frames) -> pl.DataFrame:
    """Return the GPUs of each attempt: run_id, attempt, from_ns, to_ns and gpus."""
    ranks = frames[Allocations].filter(Allocations.role.col == "rank")
    spans = ranks.group_by("run_id", "attempt", "from_ns", "to_ns")
    return spans.agg(gpus=pl.len().cast(pl.Int64)).drop_nulls("attempt").collect()


def _booked(frames: Frames, account: str) -> pl.DataFrame:
    """Return what an account of the ledger holds of each attempt. [ns]"""
    lost = frames[LostTime].filter(LostTime.category.col == account)
    total = LostTime.gpu_ns.col.cast(pl.Int128).sum()
    return lost.group_by("run_id", "attempt").agg(gpu_ns=total).collect()


def _compute(frames: Frames, thresholds: Thresholds) -> Results:
    return {LossPhases: find_phases(frames, thresholds)}


ANALYSIS: Final = Analysis(
    name="loss_phases",
    version=5,
    describes="Where the time of each interruption went, phase by phase",
    inputs=(
        Interruptions,
        Attempts,
        Gpus,
        Allocations,
        Overlap,
        StepTimings,
        StepRollups,
        LostTime,
        Jobs,
    ),
    outputs=(LossPhases,),
    compute=_compute,
    thresholds={
        "preempted_within_s": PREEMPTED_WITHIN_S,
        "preempted_loss_s": PREEMPTED_LOSS_S,
    },
)
