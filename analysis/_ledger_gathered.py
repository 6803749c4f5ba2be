"""The steps of all runs, as step logs and traces tell of them."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._collective_ranks import rank_waits
from analysis._ledger_evidence import marks, place_known, timed_steps
from analysis._ledger_progress import rollbacks, shown_steps
from analysis._ledger_restarts import find_restarts, number_spells
from analysis._ledger_traced import traced_cells
from analysis.attempts import Attempts
from analysis.overlap import Overlap
from ingest.tables import Collectives, Kernels, StepTimings

_SPELL: Final = ("run_id", "attempt", "spell")


@dataclass(frozen=True, slots=True)
class Gathered:
    """Steps with their attempt, and whether the run went back to them.

    Attributes:
        logged: Rows of step logs: the columns of `timed_steps`, spell and is_redone.
        traced: Windows of devices: the columns of `traced_cells` and is_redone.
        shown: Steps of step logs, their ranks brought together: see `shown_steps`.
    """

    logged: pl.LazyFrame
    traced: pl.LazyFrame
    shown: pl.LazyFrame


def gather(frames: Frames) -> Gathered:
    """Gather the steps of all runs.

    Args:
        frames: Attempts, overlap, step timings, kernels and collectives.
    """
    attempts, overlap = frames[Attempts], frames[Overlap]
    timed = timed_steps(frames[StepTimings], overlap)
    seen = marks(timed, _windows_of_steps(overlap)).collect().lazy()
    restarts = find_restarts(seen).collect().lazy()
    placed = place_known(number_spells(seen, restarts), attempts)
    shown = shown_steps(placed).collect().lazy()
    waits = rank_waits(frames[Collectives], attempts)
    windows = traced_cells(overlap, frames[Kernels], waits)
    traced = _mark_redone(number_spells(windows, restarts), shown)
    logged = place_known(number_spells(timed, restarts), attempts)
    return Gathered(
        logged=_mark_redone(logged, shown),
        traced=traced.drop("spell", "restart_ns"),
        shown=shown.filter(pl.col("step_basis") == "steps"),
    )


def _windows_of_steps(overlap: pl.LazyFrame) -> pl.LazyFrame:
    """Return the windows of steps in traces, as `traced_work` does."""
    steps = overlap.filter(Overlap.step.col.is_not_null())
    return steps.select(
        *["run_id", "attempt", "trace_id", "device", "rank", "step", "start_ns"],
        end_ns=Overlap.start_ns.col + Overlap.span_ns.col,
    )


def _mark_redone(rows: pl.LazyFrame, shown: pl.LazyFrame) -> pl.LazyFrame:
    """Tell of each row whether the run later went back to its step, or before it."""
    told = rows.join(rollbacks(shown), on=list(_SPELL), how="left")
    is_redone = pl.col("step") >= pl.col("redone_from")
    known = is_redone.fill_null(value=False)
    return told.with_columns(is_redone=known).drop("redone_from")
