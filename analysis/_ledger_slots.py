"""How many GPUs each attempt held, and what they were held for."""

from typing import Final

import polars as pl

from analysis._ledger_jobs import GPUS_MAX
from analysis._ledger_layout import AXES

_ATTEMPT: Final = ("run_id", "attempt")

#: Fewest ranks that, counting up from zero, are taken for all of them: one rank alone
#: is more often the only one that writes a log.
COMPLETE_MIN: Final = 2


def count_slots(
    attempts: pl.LazyFrame, seats: pl.LazyFrame, runs: pl.LazyFrame
) -> pl.LazyFrame:
    """Count the GPUs of each attempt.

    A job says how many it held. Without a job these are as many as the card says, and
    never fewer than were seen. Of a GPU that no source shows nobody says whether it
    was a rank: it is one up to the size of the layout. Without a layout it is a spare
    if the ranks seem to be all (a host map names them, or they count up from zero),
    else a rank.

    Args:
        attempts: Rows of Attempts.
        seats: GPUs that have a row: run_id, attempt, rank, host, is_seen and is_spare.
        runs: Rows of Runs.

    Returns:
        The attempts with `named` (ranks that have a row), `seen` (those that were at
        work), `unnamed` (ranks beyond them), `held` (all GPUs) and `extra` (GPUs that
        the run pays for beyond them). [1]
    """
    known = attempts.join(_named(seats), on=_ATTEMPT, how="left").join(
        _declared(runs), on="run_id", how="left"
    )
    named = pl.col("named")
    on_card = pl.coalesce("layout", "declared", pl.lit(0))
    without_job = pl.max_horizontal(named, on_card)
    of_job = pl.coalesce("gpu_count", on_card)
    held = pl.when(pl.col("basis") == "jobs").then(of_job).otherwise(without_job)
    rest = pl.when("is_whole").then(named).otherwise(pl.col("held") - pl.col("spares"))
    return (
        known.with_columns(pl.col("named", "seen", "spares").fill_null(0))
        .with_columns(held=pl.max_horizontal(held, "seen"))
        .with_columns(unnamed=(pl.coalesce("layout", rest) - named).clip(0))
        .with_columns(extra=(pl.col("reserved") - pl.col("held")).clip(0))
    )


def _named(seats: pl.LazyFrame) -> pl.LazyFrame:
    rank, is_spare = pl.col("rank"), pl.col("is_spare")
    ranks = rank.count()
    counts_up = (ranks >= COMPLETE_MIN) & (rank.max() + 1 == ranks)
    is_mapped = (~pl.col("is_seen")).any() | pl.col("host").is_not_null().any()
    return seats.group_by(_ATTEMPT).agg(
        named=(~is_spare).sum().cast(pl.Int64),
        seen=pl.col("is_seen").sum().cast(pl.Int64),
        spares=is_spare.sum().cast(pl.Int64),
        is_whole=is_mapped | counts_up,
    )


def _declared(runs: pl.LazyFrame) -> pl.LazyFrame:
    tp, cp, pp, dp = (
        pl.col(axis).clip(0, GPUS_MAX + 1).cast(pl.Int128) for axis in AXES
    )
    reserved = pl.when(pl.col("billing") == "reserved").then("reserved_gpus")
    return runs.select(
        "run_id",
        layout=plausible(tp * cp * pp * dp),
        declared=plausible(pl.col("gpu_count")),
        reserved=plausible(reserved).fill_null(0),
    )


def plausible(count: pl.Expr) -> pl.Expr:
    """Return a number of GPUs, null where no fleet has as many."""
    return pl.when(count.is_between(1, GPUS_MAX)).then(count.cast(pl.Int64))
