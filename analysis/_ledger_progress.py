"""How far attempts got: steps that they completed, and steps that were rolled back."""

from collections.abc import Iterable
from typing import Final

import polars as pl

_ATTEMPT: Final = ("run_id", "attempt")
_STEP: Final = (*_ATTEMPT, "spell", "step")

_FIRST: Final = (
    pl.col("start_ns").min(),
    pl.col("end_ns").max(),
    pl.col("step_basis").first(),
)

#: What tells a step of a spell of an attempt, and its types.
STEP_TYPES: Final = {
    "run_id": pl.String,
    "attempt": pl.Int32,
    "spell": pl.Int64,
    "step": pl.Int64,
}

_NO_STEPS: Final = pl.DataFrame(
    schema=STEP_TYPES
    | {
        "seats": pl.Int64,
        "start_ns": pl.Int64,
        "end_ns": pl.Int64,
        "step_basis": pl.String,
    }
)


def shown_steps(marks: Iterable[pl.LazyFrame]) -> pl.LazyFrame:
    """Bring the ranks together that show a step of an attempt.

    A step that less than half of the ranks show is taken for a slip of their logs.

    Args:
        marks: Frames with the columns run_id, attempt, spell, seat, step, start_ns,
            end_ns and step_basis; a seat is in one of them.

    Returns:
        Columns run_id, attempt, spell, step, step_basis, start_ns, end_ns, is_common
        (every rank of the attempt shows it) and is_most (more than half do), sorted.
    """
    counts = [_NO_STEPS, *(_count(one).collect() for one in marks)]
    rows = pl.concat(counts).lazy()
    steps = rows.filter(pl.col("step").is_not_null())
    present = rows.filter(pl.col("step").is_null())
    totals = present.group_by(_ATTEMPT).agg(present=pl.col("seats").sum())
    return (
        steps.group_by(_STEP)
        .agg(pl.col("seats").sum(), *_FIRST)
        .join(totals, on=list(_ATTEMPT))
        .filter(pl.col("seats") * 2 >= pl.col("present"))
        .with_columns(
            is_common=pl.col("seats") == pl.col("present"),
            is_most=pl.col("seats") * 2 > pl.col("present"),
        )
        .drop("seats", "present")
        .sort(_STEP)
        .collect()
        .lazy()
    )


def _count(marks: pl.LazyFrame) -> pl.LazyFrame:
    """Count the seats of each step, and, where step is null, of each attempt."""
    told = "ranks" in marks.collect_schema().names()
    own = pl.col("seat").n_unique().cast(pl.Int64)
    seats = (pl.max_horizontal(own, pl.col("ranks").max()) if told else own).alias(
        "seats"
    )
    columns = list(_NO_STEPS.schema)
    steps = marks.group_by(_STEP).agg(seats, *_FIRST)
    present = marks.group_by(_ATTEMPT).agg(seats)
    both = pl.concat([steps, present], how="diagonal")
    return both.select(columns)


def completed_steps(shown: pl.LazyFrame) -> pl.LazyFrame:
    """Find the first and last step of each attempt that every rank completed.

    Ranks leave a synchronous step together: a rank that shows a later step proves that
    all have completed the one before, even where rows of others are lost. So all steps
    but the last are complete, and the last is if every rank shows it. So it is, too, if
    more than half of the ranks logged its end and the run never went back to it: ranks
    log what they have left, and the rows of the others are lost. Of a step in which the
    run died few have a row, or the next attempt does it again. Traces end anywhere: of
    their last step, all ranks must be seen.

    Args:
        shown: What `shown_steps` returns.

    Returns:
        One row for each attempt with a completed step: run_id, attempt, first_step,
        first_spell, first_start_ns, last_step, last_spell, last_step_end_ns, max_step
        and step_basis. First and last are by time, so that a step that was done again
        counts as it was done last.
    """
    is_last = pl.int_range(pl.len()).over(_ATTEMPT) == pl.len().over(_ATTEMPT) - 1
    told = shown.join(rollbacks(shown), on=list(_STEP[:3]), how="left").sort(_STEP)
    is_kept = (pl.col("step") < pl.col("redone_from")).fill_null(value=True)
    is_log = pl.col("step_basis") == "steps"
    is_logged = pl.col("is_most") & is_kept & is_log
    complete = told.filter(~is_last | pl.col("is_common") | is_logged)
    return complete.group_by(_ATTEMPT, maintain_order=True).agg(
        first_step=pl.col("step").first(),
        first_spell=pl.col("spell").first(),
        first_start_ns=pl.col("start_ns").first(),
        last_step=pl.col("step").last(),
        last_spell=pl.col("spell").last(),
        last_step_end_ns=pl.col("end_ns").last(),
        max_step=pl.col("step").max(),
        step_basis=pl.col("step_basis").first(),
    )


def rollbacks(shown: pl.LazyFrame) -> pl.LazyFrame:
    """Find the step that each spell was later rolled back to.

    Args:
        shown: What `shown_steps` returns.

    Returns:
        Columns run_id, attempt, spell and redone_from: the lowest step that any later
        spell of the run began with. A step of the spell from there on was discarded.
    """
    begun = shown.group_by(*_ATTEMPT, "spell").agg(first=pl.col("step").min())
    ordered = begun.sort("run_id", "attempt", "spell", descending=[False, True, True])
    return ordered.select(
        *_ATTEMPT,
        "spell",
        redone_from=pl.col("first").cum_min().shift(1).over("run_id"),
    )
