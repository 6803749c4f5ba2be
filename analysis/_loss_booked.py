"""Phases of interruptions with the GPU time that the ledger books for them."""

from typing import Final

import polars as pl

from analysis._loss_edges import Edges
from analysis._loss_inside import inside_phases
from analysis._loss_moments import closing_stops, cuts, moments

_ATTEMPT: Final = ["run_id", "attempt"]
_STARTED: Final = ["run_id", "started_ns"]

#: Side of an attempt, and whether before or after its cut: the phase that it is.
_PHASES: Final = {
    ("closing", "before"): "hang",
    ("closing", "after"): "detect",
    ("between", "before"): "decide",
    ("between", "after"): "requeue",
    ("opening", "before"): "start",
}


def booked_phases(
    stops: pl.DataFrame,
    attempts: pl.DataFrame,
    edges: Edges,
    held: pl.DataFrame,
    restarts: pl.DataFrame,
) -> pl.DataFrame:
    """Return the phases of each stop, and what belongs to none.

    Args:
        stops: Rows of Interruptions.
        attempts: Rows of Attempts.
        edges: Where GPUs began their first step and ended their last.
        held: GPUs of attempts: run_id, attempt, from_ns, to_ns and gpus.
        restarts: What the ledger booked: run_id, attempt and gpu_ns. [ns]

    Returns:
        Columns run_id, attempt, stop, planned, phase, from_ns, to_ns, gpu_ns, account.
    """
    sums = edges.cut(cuts(stops))
    paid = _of_attempts(sums, stops, attempts)
    is_inside = pl.col("kind").is_in(["went_back", "pause"])
    key = [*_ATTEMPT, "stop"]
    inside = stops.filter(is_inside).select(*key, "kind")
    timed = moments(stops, attempts)
    ended = timed.join(inside, on=key, how="anti")
    alone = paid.filter(pl.col("stop").is_null())
    account = pl.lit("restart").alias("account")
    known = ended.join(
        paid.drop_nulls("stop"), on=[*key, "phase"], how="left"
    ).with_columns(pl.col("gpu_ns").fill_null(0), account)
    failed = _failed_starts(known, attempts)
    reached = attempts.join(edges.first_steps(), on=_ATTEMPT, how="left")
    bounds = _bounds_alone(alone, reached).with_columns(account)
    within = inside_phases(timed.join(inside, on=key), held, _left(restarts, sums))
    return pl.concat([failed, bounds, within], how="diagonal_relaxed")


def _left(restarts: pl.DataFrame, sums: pl.DataFrame) -> pl.DataFrame:
    """Return what the ledger booked as restart beside the ends of attempts. [ns]"""
    ends = sums.filter(pl.col("side") != "between").group_by(_ATTEMPT)
    around = ends.agg(_ends=(pl.col("before") + pl.col("after")).sum())
    within = restarts.drop_nulls("attempt")
    told = within.join(around, on=_ATTEMPT, how="left")
    left = pl.col("gpu_ns") - pl.col("_ends").fill_null(0)
    return told.select(*_ATTEMPT, left=left)


def _of_attempts(
    sums: pl.DataFrame, stops: pl.DataFrame, attempts: pl.DataFrame
) -> pl.DataFrame:
    """Lay the time around attempts to stops: an opening to the one that it follows."""
    rows = [
        sums.filter(pl.col("side") == side).select(
            *_ATTEMPT, gpu_ns=part, phase=pl.lit(phase)
        )
        for (side, part), phase in _PHASES.items()
    ]
    ordered = attempts.sort("run_id", "start_ns", "attempt")
    before = ordered.select(
        *_ATTEMPT,
        started_ns="start_ns",
        _before=pl.col("attempt").shift(1).over("run_id"),
    )
    stopped = stops.sort(_ATTEMPT).unique(_STARTED, keep="last", maintain_order=True)
    own = stopped.select(*_STARTED, _stopped="attempt")
    before = before.join(own, on=_STARTED, how="left").select(
        *_ATTEMPT, _before=pl.coalesce("_stopped", "_before")
    )
    is_start = pl.col("phase") == "start"
    placed = pl.concat(rows).join(before, on=_ATTEMPT, how="left")
    laid = placed.with_columns(
        phase=pl.when(is_start & pl.col("_before").is_null())
        .then(pl.lit("first_start"))
        .otherwise("phase"),
        attempt=pl.when(is_start)
        .then(pl.coalesce("_before", "attempt"))
        .otherwise("attempt"),
    )
    final = closing_stops(stops).select(*_ATTEMPT, "stop")
    known = laid.join(final, on=_ATTEMPT, how="left")
    is_first = pl.col("phase") == "first_start"
    has_stop = pl.col("stop").is_not_null() & ~is_first
    alone = pl.when(is_first | has_stop).then("phase").otherwise(pl.lit("end"))
    told = known.with_columns(phase=alone, stop=pl.when(has_stop).then("stop"))
    summed = told.group_by(*_ATTEMPT, "stop", "phase").agg(pl.col("gpu_ns").sum())
    return summed.filter(pl.col("stop").is_not_null() | (pl.col("gpu_ns") > 0))


def _failed_starts(rows: pl.DataFrame, attempts: pl.DataFrame) -> pl.DataFrame:
    """Let a start last until the end of the next attempt where that got nowhere."""
    ordered = attempts.sort("run_id", "start_ns", "attempt").select(
        *_ATTEMPT,
        *[
            pl.col(f"{side}_ns").shift(-1).over("run_id").alias(f"_{side}")
            for side in ("start", "end")
        ],
    )
    is_open = (
        (pl.col("phase") == "start")
        & pl.col("to_ns").is_null()
        & (pl.col("gpu_ns") > 0)
    )
    told = rows.join(ordered, on=_ATTEMPT, how="left")
    return told.with_columns(
        from_ns=pl.when(is_open).then("_start").otherwise("from_ns"),
        to_ns=pl.when(is_open).then("_end").otherwise("to_ns"),
    ).drop("_start", "_end")


def _bounds_alone(rows: pl.DataFrame, attempts: pl.DataFrame) -> pl.DataFrame:
    """Say from when to when a first start and a last end lasted, by the attempt."""
    is_first = pl.col("phase") == "first_start"
    times = attempts.select(
        *_ATTEMPT,
        "last_step_end_ns",
        "first_start_ns",
        _start="start_ns",
        _end="end_ns",
    )
    begun = pl.coalesce("first_start_ns", "_end")
    told = rows.join(times, on=_ATTEMPT, how="left")
    return told.with_columns(
        from_ns=pl.when(is_first).then("_start").otherwise("last_step_end_ns"),
        to_ns=pl.when(is_first).then(begun).otherwise("_end"),
        planned=pl.lit(None, pl.Boolean),
    ).drop("_start", "_end", "last_step_end_ns", "first_start_ns")
