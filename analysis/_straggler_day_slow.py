"""Some steps again, as an array: of slow ranks each, and of the others what counts."""

import numpy as np
import polars as pl

from analysis._straggler_day_grid import NO_STAGE, Grid, Places, slices
from analysis._straggler_day_pieces import Piece
from analysis._straggler_day_rows import OTHERS, PARTS, STAGES, UNITS, Near, Seated
from analysis._straggler_middle import (
    Middle,
    Number,
    Real,
    Whole,
    middle_of,
    peers_median,
)


def of_grid(piece: Piece, grid: Grid, ranks: Whole, seated: Seated) -> Near:
    """Compare the steps of a piece as an array, in which all ranks did something.

    Args:
        piece: Steps of an attempt.
        grid: The same as an array.
        ranks: Ranks of slow things, in order.
        seated: Where ranks sit, and how they are compared.
    """
    stages = Places.of(seated.seats, piece.attempt).stages_of(grid.ranks)
    order, parts = slices(stages)
    slow = np.isin(grid.ranks, ranks)
    peers = np.full((len(grid.steps), int(slow.sum())), np.nan)
    medians = []
    for _, first, end in parts:
        own = grid.work_ns[:, order[first:end]]
        middle = middle_of(own) if end - first > 1 else None
        medians.append(own / 1 if middle is None else middle.median)
        if middle is not None and end - first > seated.sizes.min_peers:
            _fill(peers, own, middle, (order[first:end], slow))
    of_stages = _stages(piece, np.concatenate(medians, axis=1), parts, seated)
    return Near(
        _units(piece, (grid, slow, stages), peers),
        of_stages,
        _others(piece, grid, slow),
    )


def _fill(
    peers: Real, own: Number, middle: Middle, where: tuple[Whole, Number]
) -> None:
    """Fill in the peers of the slow ranks of a stage."""
    of_stage, slow = where
    mine = np.flatnonzero(slow[of_stage])
    into = np.cumsum(slow)[of_stage[mine]] - 1
    peers[:, into] = peers_median(own[:, mine], middle)


def _units(piece: Piece, told: tuple[Grid, Number, Whole], peers: Real) -> pl.DataFrame:
    grid, slow, stages = told
    at = np.flatnonzero(np.tile(slow, len(grid.steps)))
    names = ["step", "rank", "start_ns", "duration_ns", *PARTS]
    work = grid.work_ns[:, slow].ravel()
    with np.errstate(invalid="ignore"):
        ratio = work / peers.ravel()
    stage = np.tile(stages[slow], len(grid.steps))
    rows = piece.rows.select(names)[at].rename({"communication_ns": "transfer_ns"})
    known = rows.with_columns(
        attempt=pl.lit(piece.attempt),
        stage=pl.Series(np.maximum(stage, 0)),
        work_ns=pl.Series(work),
        peers_ns=pl.Series(peers.ravel(), nan_to_null=True),
        ratio=pl.Series(ratio, nan_to_null=True),
    )
    has_stage = pl.Series(stage != NO_STAGE)
    told_stage = pl.when(has_stage).then("stage")
    return known.with_columns(stage=told_stage).select(list(UNITS)).cast(UNITS)


def _stages(
    piece: Piece, medians: Real, parts: list[tuple[int, int, int]], seated: Seated
) -> pl.DataFrame:
    names = np.array([name for name, _, _ in parts])
    known = medians[:, names != NO_STAGE]
    if known.shape[1] <= seated.sizes.min_peers:
        return pl.DataFrame(schema=STAGES)
    peers = peers_median(known, middle_of(known))
    rows = {
        "attempt": piece.attempt,
        "step": np.repeat(piece.steps, known.shape[1]),
        "stage": np.tile(names[names != NO_STAGE], len(piece.steps)),
        "ratio": (known / peers).ravel(),
    }
    return pl.DataFrame(rows, schema_overrides=STAGES)


def _others(piece: Piece, grid: Grid, slow: Number) -> pl.DataFrame:
    healthy = grid.work_ns[:, ~slow]
    most = healthy.max(axis=1) if healthy.shape[1] else [None] * len(grid.steps)
    rows = {
        "attempt": piece.attempt,
        "step": grid.steps,
        "others_ns": most,
        "data_typical": _typical(piece, "data_ns"),
        "transfer_typical": _typical(piece, "communication_ns"),
        "ranks": len(grid.ranks),
    }
    return pl.DataFrame(rows, schema_overrides=OTHERS)


def _typical(piece: Piece, name: str) -> pl.Series:
    """Return the median of a part in each step; null where no rank tells it. [ns]"""
    column, steps = piece.rows[name], len(piece.steps)
    if column.null_count() == column.len():
        return pl.Series([None] * steps, dtype=pl.Float64)
    if column.null_count():
        of_step = pl.Series(np.repeat(np.arange(steps), np.diff(piece.starts)))
        grouped = pl.DataFrame({"at": of_step, "part": column}).group_by("at")
        return grouped.agg(pl.col("part").median()).sort("at")["part"]
    if column.min() == column.max():
        return pl.Series([float(column[0])] * steps)
    values = column.to_numpy().reshape(steps, -1)
    return pl.Series(np.median(values, axis=1))
