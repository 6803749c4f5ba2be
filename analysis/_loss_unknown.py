"""GPU time of phases that nobody can know: null, which is not none."""

from typing import Final

import polars as pl

_ATTEMPT: Final = ["run_id", "attempt"]

#: Kinds of stops with which an attempt is over.
_OVER: Final = ("end", "hang")


def blank_unknown(
    rows: pl.DataFrame,
    stops: pl.DataFrame,
    attempts: pl.DataFrame,
    told: pl.DataFrame,
    held: pl.DataFrame,
) -> pl.DataFrame:
    """Blank the GPU time of phases where the ledger has no evidence of any.

    Nobody knows how long an attempt hung whose steps nobody saw, nor how long the next
    one took to its first step, nor which steps were done again; of an attempt whose
    GPUs nobody counted, nothing is known. The ledger books such time as unattributed,
    or not at all. What is part of another phase costs nothing of its own: to the end
    where no sign is known it is hang, and a start in which no step was completed has
    all time of its attempt.

    Args:
        rows: Phases of stops and what belongs to none, with gpu_ns.
        stops: Rows of Interruptions.
        attempts: Rows of Attempts.
        told: Columns run_id, attempt, is_told and is_lost, as `Edges.told` returns.
        held: GPUs of attempts, with run_id and attempt.

    Returns:
        The rows. What the ledger did book stays.
    """
    known = _known(attempts, told, held)
    kinds = stops.select(*_ATTEMPT, "stop", is_over=pl.col("kind").is_in(_OVER))
    placed = rows.join(kinds, on=[*_ATTEMPT, "stop"], how="left").join(
        known, on=_ATTEMPT, how="left"
    )
    own = ~pl.col("own").fill_null(value=False)
    following = ~pl.col("next").fill_null(value=True) & pl.col("is_over")
    is_lost = pl.col("is_lost").fill_null(value=False)
    unknown = (
        pl.when(pl.col("phase").is_in(["hang", "detect"]))
        .then(own)
        .when(pl.col("phase") == "start")
        .then(pl.when("is_over").then(following).otherwise(own))
        .when(pl.col("phase") == "recompute")
        .then(own | (following & ~is_lost))
        .otherwise(pl.lit(value=False))
    )
    is_blank = unknown & pl.col("stop").is_not_null() & (pl.col("gpu_ns") == 0)
    blanked = placed.with_columns(gpu_ns=pl.when(~is_blank).then("gpu_ns"))
    return blanked.drop("own", "next", "is_lost", "is_over")


def _known(
    attempts: pl.DataFrame, told: pl.DataFrame, held: pl.DataFrame
) -> pl.DataFrame:
    """Return of which attempts the ends are known, and of which the one after."""
    paid = held.select(_ATTEMPT).unique().with_columns(is_paid=pl.lit(value=True))
    ordered = (
        attempts.join(told, on=_ATTEMPT, how="left")
        .join(paid, on=_ATTEMPT, how="left")
        .sort("run_id", "start_ns", "attempt")
    )
    is_counted = pl.coalesce("is_paid", pl.col("gpu_count") > 0)
    is_known = pl.all_horizontal(pl.col("is_told"), is_counted)
    named = ordered.with_columns(own=is_known.fill_null(value=False))
    return named.select(
        *_ATTEMPT, "own", "is_lost", next=pl.col("own").shift(-1).over("run_id")
    )
