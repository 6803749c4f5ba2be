"""The steps of all runs, as step logs and traces tell of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._clock_shifts import clocks_of
from analysis._collective_ranks import rank_waits
from analysis._ledger_best import best_cells
from analysis._ledger_evidence import Marks, place_known
from analysis._ledger_log import StepLog, read_log
from analysis._ledger_operated import operated_cells
from analysis._ledger_progress import rollbacks, shown_steps
from analysis._ledger_restarts import find_restarts, number_spells
from analysis._ledger_traced import traced_cells
from analysis._replay_layouts import Layouts
from analysis._step_rollup_log import ranked_steps
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.overlap import Overlap
from analysis.placing import in_calendar
from analysis.runs import Runs
from ingest.tables import Collectives, Kernels, Operations

_SPELL: Final = ("run_id", "attempt", "spell")

_WINDOW: Final = (
    *("run_id", "attempt", "trace_id", "device", "rank", "step"),
    *("start_ns", "end_ns"),
)


@dataclass(frozen=True, slots=True)
class Gathered:
    """Steps with their attempt, and whether the run went back to them.

    Going through it gives the portions of the step log, each row with its attempt, its
    spell and is_redone.

    Attributes:
        log: The step logs.
        attempts: Rows of Attempts.
        restarts: Restarts that step numbers tell of.
        rollbacks: The step that each spell was later rolled back to.
        shown: Steps of step logs, their ranks brought together: see `shown_steps`.
        traced: Windows of devices and ranks: the columns of `traced_cells`, and
            is_redone.
    """

    log: StepLog
    attempts: pl.LazyFrame
    restarts: pl.LazyFrame
    rollbacks: pl.LazyFrame
    shown: pl.LazyFrame
    traced: pl.LazyFrame

    @property
    def known(self) -> pl.LazyFrame:
        """The ranks that logs or traces tell of: run_id and rank."""
        traced = self.traced.select("run_id", "rank")
        return pl.concat([self.log.known.lazy(), traced])

    def __iter__(self) -> Iterator[pl.LazyFrame]:
        """Go through the portions of the step log."""
        for portion in self.log:
            placed = place_known(number_spells(portion, self.restarts), self.attempts)
            yield _mark_redone(placed, self.rollbacks).collect().lazy()


def gather(frames: Frames, portion_rows: int) -> Gathered:
    """Gather the steps of all runs.

    Args:
        frames: Attempts, overlap, step timings, kernels, collectives, operations,
            runs and GPUs.
        portion_rows: Rows of step logs to hold at once. [1]
    """
    attempts, overlap = frames[Attempts], frames[Overlap]
    steps = in_calendar(ranked_steps(frames), attempts)
    log = read_log(steps, overlap, portion_rows)
    layouts = Layouts(frames[Runs], frames[Gpus])
    operations = frames[Operations]
    operated = operated_cells(operations, attempts, layouts=layouts).lazy()
    seen = pl.concat([_windows_of_steps(overlap), operated.select(_WINDOW)])
    marks = Marks(log, in_calendar(seen, attempts))
    restarts = find_restarts(marks)
    shown = shown_steps(
        place_known(number_spells(one, restarts), attempts) for one in marks
    )
    redone = rollbacks(shown).collect().lazy()
    waits = rank_waits(frames[Collectives], attempts, clocks_of(frames))
    devices = traced_cells(overlap, frames[Kernels], waits)
    windows = best_cells(devices, operated)
    traced = _mark_redone(number_spells(windows, restarts), redone)
    return Gathered(
        log=log,
        attempts=attempts,
        restarts=restarts,
        rollbacks=redone,
        shown=shown.filter(pl.col("step_basis") == "steps"),
        traced=traced.drop("spell", "restart_ns"),
    )


def _windows_of_steps(overlap: pl.LazyFrame) -> pl.LazyFrame:
    """Return the windows of steps in traces, as `traced_work` does."""
    steps = overlap.filter(Overlap.step.col.is_not_null())
    end = Overlap.start_ns.col + Overlap.span_ns.col
    return steps.with_columns(end_ns=end).select(_WINDOW)


def _mark_redone(rows: pl.LazyFrame, redone: pl.LazyFrame) -> pl.LazyFrame:
    """Tell of each row whether the run later went back to its step, or before it."""
    told = rows.join(redone, on=list(_SPELL), how="left")
    is_redone = pl.col("step") >= pl.col("redone_from")
    known = is_redone.fill_null(value=False)
    return told.with_columns(is_redone=known).drop("redone_from")
