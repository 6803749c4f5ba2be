"""The steps that an attempt completed."""

import polars as pl

_ATTEMPT = ["run_id", "attempt"]


def completed_steps(marks: pl.LazyFrame) -> pl.LazyFrame:
    """Find the first and last step of each attempt that every rank completed.

    Ranks leave a synchronous step together: a rank that shows a later step proves that
    all have completed the one before, even where rows of others are lost. So all steps
    but the last are complete, and the last is if every rank shows it. A step that less
    than half of the ranks show is taken for a slip of their logs.

    Args:
        marks: Columns run_id, attempt, spell, seat, step, start_ns, end_ns and
            step_basis.

    Returns:
        One row for each attempt with a completed step: run_id, attempt, first_step,
        first_spell, first_start_ns, last_step, last_spell, last_step_end_ns, max_step
        and step_basis. First and last are by time, so that a step that was done again
        counts as it was done last.
    """
    seats = pl.col("seat").n_unique()
    present = marks.group_by(_ATTEMPT).agg(present=seats)
    steps = marks.group_by(*_ATTEMPT, "spell", "step").agg(
        seats.alias("seats"),
        pl.col("start_ns").min(),
        pl.col("end_ns").max(),
        pl.col("step_basis").first(),
    )
    shown = (
        steps.join(present, on=_ATTEMPT)
        .filter(pl.col("seats") * 2 >= pl.col("present"))
        .sort(*_ATTEMPT, "spell", "step")
    )
    is_last = pl.int_range(pl.len()).over(_ATTEMPT) == pl.len().over(_ATTEMPT) - 1
    complete = shown.filter(~is_last | (pl.col("seats") == pl.col("present")))
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
