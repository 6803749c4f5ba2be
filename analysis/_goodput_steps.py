"""Steps that counted and steps that were done again, and how long they took."""

from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._ledger_evidence import NO_TRACES, Marks, place_known
from analysis._ledger_log import PORTION_ROWS, read_log
from analysis._ledger_progress import STEP_TYPES, rollbacks
from analysis._ledger_restarts import find_restarts, number_spells
from analysis._step_rollup_log import ranked_steps
from analysis.attempts import Attempts
from analysis.overlap import Overlap
from analysis.placing import in_calendar
from ingest.tables import StepTimings

_SPELL: Final = ("run_id", "attempt", "spell")
_STEP: Final = (*_SPELL, "step")

_NO_STEPS: Final = pl.DataFrame(
    schema=STEP_TYPES | {"start_ns": pl.Int64, "taken_ns": pl.Int128, "rows": pl.Int64}
)


def logged_steps(frames: Frames, portion_rows: int = PORTION_ROWS) -> pl.DataFrame:
    """Bring the ranks of each logged step together, a portion of the log at a time.

    Steps of traces are left out: they are samples. What is redone is told as the ledger
    tells it: whatever a later spell of the run, in the same attempt or another, began
    at or before.

    Args:
        frames: Step timings, overlap and attempts.
        portion_rows: Rows of step logs to hold at once. [1]

    Returns:
        A row for each step of a spell, sorted by time: run_id, attempt, spell, step,
        start_ns (of its first rank), taken_ns (mean over its rows) [ns], steps (how
        many the row stands for) and is_kept.
    """
    attempts = frames[Attempts]
    steps = in_calendar(ranked_steps(frames), attempts)
    log = read_log(steps, frames[Overlap], portion_rows)
    restarts = find_restarts(Marks(log, NO_TRACES.lazy()))
    sums = [
        _sum_up(place_known(number_spells(one, restarts), attempts)).collect()
        for one in log
    ]
    together = pl.concat([_NO_STEPS, *sums]).lazy()
    totals = together.group_by(_STEP).agg(
        pl.col("start_ns").min(),
        pl.col("taken_ns").sum(),
        pl.col("rows").sum(),
    )
    redone = rollbacks(totals.collect().lazy())
    told = totals.join(redone, on=list(_SPELL), how="left").join(
        _counts(steps), on=["run_id", "step"], how="left"
    )
    is_kept = (pl.col("step") < pl.col("redone_from")).fill_null(value=True)
    return (
        told.with_columns(taken_ns=pl.col("taken_ns") // pl.col("rows"))
        .with_columns(is_kept=is_kept)
        .select(*_STEP, "start_ns", "taken_ns", "steps", "is_kept")
        .sort("run_id", "start_ns", "step")
        .collect()
    )


def _counts(steps: pl.LazyFrame) -> pl.LazyFrame:
    """Return how many steps the row of each step stands for."""
    count = StepTimings.step_count.col.fill_null(1).max()
    grouped = steps.group_by("run_id", "step").agg(steps=count.cast(pl.Int64))
    return grouped.collect(engine="streaming").lazy()


def _sum_up(portion: pl.LazyFrame) -> pl.LazyFrame:
    taken = (pl.col("end_ns") - pl.col("start_ns")).cast(pl.Int128).sum()
    return (
        portion.group_by(_STEP)
        .agg(
            pl.col("start_ns").min(),
            taken_ns=taken,
            rows=pl.len().cast(pl.Int64),
        )
        .select(_NO_STEPS.columns)
    )


def count_steps(steps: pl.DataFrame) -> pl.DataFrame:
    """Count the steps of each run.

    Args:
        steps: What `logged_steps` returns.

    Returns:
        Columns run_id, steps_kept, steps_repeated and kept_step_ns. [ns]
    """
    many, kept = pl.col("steps"), pl.col("is_kept")
    return steps.group_by("run_id").agg(
        steps_kept=many.filter(kept).sum(),
        steps_repeated=many.filter(~kept).sum(),
        kept_step_ns=pl.col("taken_ns").filter(kept).sum(),
    )


def step_starts(steps: pl.DataFrame) -> pl.DataFrame:
    """Sum up the time from step to step, as Google's library counts it.

    A step lasts until the next one begins. A run was disrupted only where a step number
    comes again: the steps that are done again, and the one that was under way, do not
    count. So a restart that goes on with the very next step is one long step.

    Source: google/ml-goodput-measurement v0.2.3.

    Args:
        steps: What `logged_steps` returns.

    Returns:
        Columns run_id and google_productive_ns. [ns]
    """
    ordered = steps.sort("run_id", "start_ns", "step")
    following = ordered.with_columns(
        next_ns=pl.col("start_ns").shift(-1).over("run_id"),
        next_step=pl.col("step").shift(-1).over("run_id"),
    )
    goes_on = (pl.col("next_step") > pl.col("step")) & pl.col("is_kept")
    lasts = pl.col("next_ns") - pl.col("start_ns")
    return following.group_by("run_id").agg(
        google_productive_ns=lasts.filter(goes_on).cast(pl.Int128).sum()
    )
