"""The part of each allocation in which steps were completed."""

from typing import Final

import polars as pl

from analysis._ledger_seats import SEAT

_ATTEMPT: Final = ("run_id", "attempt")


def frontiers(
    attempts: pl.LazyFrame, shown: pl.LazyFrame, completed: pl.LazyFrame
) -> pl.LazyFrame:
    """Say of each attempt whether, and between which steps, it got anywhere.

    A step log is whole: before its first completed step and after its last, the attempt
    was not training. Traces are samples and tell nothing of the time outside them. An
    attempt of a logged run without any row of its own got nowhere if the next one that
    did went on from where the one before had stopped; else its log may be missing.

    Args:
        attempts: Rows of Attempts.
        shown: What `shown_steps` returns, of step logs alone.
        completed: What `completed_steps` returns for them.

    Returns:
        The attempts with the columns of `completed`, is_lost (no step completed) and
        job_basis (whether a job tells of the attempt, as a basis).
    """
    is_job = pl.col("basis") == "jobs"
    job_basis = pl.when(is_job).then(pl.lit("jobs")).otherwise(pl.lit("none"))
    rows = shown.select(_ATTEMPT).unique().with_columns(has_rows=pl.lit(value=True))
    joined = (
        attempts.select(*_ATTEMPT, job_basis=job_basis)
        .join(completed, on=list(_ATTEMPT), how="left")
        .join(rows, on=list(_ATTEMPT), how="left")
        .sort(_ATTEMPT)
    )
    has_rows = pl.col("has_rows").fill_null(value=False)
    reached = pl.col("max_step").cum_max().forward_fill().shift(1).over("run_id")
    resumed = pl.col("first_step").backward_fill().shift(-1).over("run_id")
    went_on = (resumed <= reached.fill_null(0) + 1).fill_null(value=False)
    return joined.with_columns(
        is_lost=pl.col("first_step").is_null() & (has_rows | went_on)
    ).drop("has_rows")


def zones(
    seats: pl.LazyFrame, steps: pl.LazyFrame, fronts: pl.LazyFrame
) -> pl.LazyFrame:
    """Bound the time of each seat in which steps were completed.

    It begins where the seat's row of the first completed step does, and ends where its
    row of the last one does; where the seat has no such row, as that of the attempt.

    Args:
        seats: Columns seat, run_id, attempt, role, from_ns and to_ns.
        steps: Rows of step logs at seats: seat, spell, step, start_ns and end_ns.
        fronts: What `frontiers` returns.

    Returns:
        The seats with the columns of `fronts`, opened_ns and closed_ns. Before and
        after, a rank is restarting. Of other roles the zone is empty. [ns]
    """
    known = _with_fronts(seats, fronts).join(
        _own_bounds(steps, seats, fronts), on=SEAT, how="left"
    )
    is_idle = (pl.col("role") != "rank") | pl.col("is_lost").fill_null(value=False)
    opened = pl.coalesce("own_start_ns", "first_start_ns", "from_ns")
    closed = pl.coalesce("own_end_ns", "last_step_end_ns", "to_ns")
    return (
        known.with_columns(opened_ns=pl.when(is_idle).then("to_ns").otherwise(opened))
        .with_columns(pl.col("opened_ns").clip("from_ns", "to_ns"))
        .with_columns(closed_ns=closed.clip("opened_ns", "to_ns"))
        .drop("own_start_ns", "own_end_ns")
    )


def _with_fronts(seats: pl.LazyFrame, fronts: pl.LazyFrame) -> pl.LazyFrame:
    """Join what is known of attempts; between attempts, the basis of the run's."""
    bases = fronts.group_by("run_id").agg(of_run=pl.col("job_basis").first())
    return (
        seats.join(fronts, on=list(_ATTEMPT), how="left")
        .join(bases, on="run_id", how="left")
        .with_columns(job_basis=pl.coalesce("job_basis", "of_run", pl.lit("none")))
        .drop("of_run")
    )


def _own_bounds(
    steps: pl.LazyFrame, seats: pl.LazyFrame, fronts: pl.LazyFrame
) -> pl.LazyFrame:
    """Return when each seat began the first completed step and ended the last."""
    keys = ["first_spell", "first_step", "last_spell", "last_step"]
    known = seats.select(SEAT, *_ATTEMPT).join(
        fronts.select(*_ATTEMPT, *keys), on=list(_ATTEMPT)
    )
    rows = steps.join(known.select(SEAT, *keys), on=SEAT)
    is_first, is_last = (
        (pl.col("spell") == pl.col(f"{end}_spell"))
        & (pl.col("step") == pl.col(f"{end}_step"))
        for end in ("first", "last")
    )
    return rows.group_by(SEAT).agg(
        own_start_ns=pl.col("start_ns").filter(is_first).min(),
        own_end_ns=pl.col("end_ns").filter(is_last).max(),
    )
