"""Attempts that stopped before their run was done, and what came after."""

from typing import Final

import polars as pl

from analysis.attempts import Attempts
from ingest.tables import StepTimings

#: State of a job that ended by itself, without an error.
COMPLETED: Final = "COMPLETED"

#: States in which somebody meant the job to end: it was done, its time was up, or it
#: was cancelled. Slurm's words.
PLANNED: Final = ("COMPLETED", "TIMEOUT", "DEADLINE", "CANCELLED")

#: States that are the scheduler's own doing, so that no failure is looked for unless
#: the run had stood still before.
SCHEDULED: Final = ("COMPLETED", "TIMEOUT", "DEADLINE", "PREEMPTED", "SUSPENDED")

#: State of a job that was cancelled: its teardown makes events, which are no cause.
CANCELLED: Final = "CANCELLED"

#: State that tells by itself whose the cause is: the job asked for too little memory.
OUT_OF_MEMORY: Final = "OUT_OF_MEMORY"

#: Starts of one step within this time are told by the first of them. It only thins
#: the rows out before they are sorted. [ns]
_SPREAD_NS: Final = 10 * 1_000_000_000

#: Jobs of a run that share more time ran beside each other, and so did those that
#: share more than half of the first: an epilogue, or a job that hangs and is given up
#: when another runs in its place, takes less. [ns]
BESIDE_NS: Final = 600 * 1_000_000_000

_NEXT: Final = {
    "next_submit_ns": Attempts.submit_ns,
    "next_start_ns": Attempts.start_ns,
    "next_end_ns": Attempts.end_ns,
}


def find_stops(attempts: pl.DataFrame) -> pl.DataFrame:
    """Return the attempts that did not bring their run to its end.

    An attempt stopped where another follows it, or where its job is over in any state
    but COMPLETED. A job beside which another of the run began stopped at its own end,
    and is followed by what began after that.

    Args:
        attempts: Rows of Attempts.

    Returns:
        Their rows with `kind`, `state` in capitals, `is_followed`, `next_submit_ns`,
        `next_start_ns`, `next_end_ns`, `lost_steps` and `is_anew` (the run was done,
        and the next attempt begins where it had begun: a run of the same name).
    """
    resumed = Attempts.first_step.col.shift(-1).fill_null(strategy="backward")
    numbered = attempts.with_columns(
        Attempts.state.col.str.to_uppercase(),
        _resumed=resumed.over("run_id", order_by="attempt"),
    )
    ordered = _followed(numbered)
    is_followed = pl.col("next_start_ns").is_not_null()
    is_done = Attempts.state.col == COMPLETED
    is_anew = (is_done & (pl.col("_resumed") <= Attempts.first_step.col)).fill_null(
        value=False
    )
    is_over = ~Attempts.is_running.col & (Attempts.state.col != COMPLETED)
    repeated = Attempts.last_step.col - pl.col("_resumed") + 1
    return ordered.with_columns(
        kind=pl.lit("end"),
        is_followed=is_followed,
        is_anew=is_anew,
        lost_steps=pl.when(~is_anew).then(repeated.clip(0)),
    ).filter(is_followed | is_over.fill_null(value=False))


def _followed(attempts: pl.DataFrame) -> pl.DataFrame:
    """Add when the next attempt was submitted, started and ended.

    Which steps were of a job beside which another ran, is not known.
    """
    following = [
        column.col.shift(-1).over("run_id", order_by="attempt").alias(name)
        for name, column in _NEXT.items()
    ]
    own, end = Attempts.job_end_ns.col, Attempts.end_ns.col
    most = pl.min_horizontal((own - Attempts.start_ns.col) // 2, BESIDE_NS)
    is_beside = (own - end > most).fill_null(value=False)
    alone = attempts.with_columns(*following).filter(~is_beside)
    blank = {
        name: pl.lit(None, pl.Int64)
        for name in ("first_step", "last_step", "last_step_end_ns")
    }
    beside = attempts.filter(is_beside).with_columns(end_ns=own, **blank)
    starts = attempts.select(
        "run_id", *[column.col.alias(name) for name, column in _NEXT.items()]
    )
    later = beside.sort("end_ns").join_asof(
        starts.sort("next_start_ns"),
        left_on="end_ns",
        right_on="next_start_ns",
        by="run_id",
        strategy="forward",
        check_sortedness=False,
    )
    return pl.concat([alone, later], how="diagonal_relaxed")


def first_new_steps(stops: pl.DataFrame, steps: pl.LazyFrame) -> pl.DataFrame:
    """Add `first_step_ns`: when the next attempt began its first step. [ns]

    Args:
        stops: Rows of `find_stops`.
        steps: Rows of StepTimings.
    """
    start = StepTimings.start_ns.col
    spread = (start // _SPREAD_NS).alias("_spread")
    first = steps.group_by("run_id", "step", spread).agg(first_step_ns=start.min())
    found = stops.sort("next_start_ns").join_asof(
        first.select("run_id", "first_step_ns").collect().sort("first_step_ns"),
        left_on="next_start_ns",
        right_on="first_step_ns",
        by="run_id",
        strategy="forward",
        check_sortedness=False,
    )
    is_of_next = pl.col("first_step_ns") <= pl.col("next_end_ns")
    return found.with_columns(pl.when(is_of_next).then("first_step_ns"))
