"""A piece of a day, compared: medians of blocks, totals of steps, work of reports."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl

from analysis._straggler_day_grid import NO_STAGE, Grid, Places, grid_of, slices
from analysis._straggler_day_pieces import Piece
from analysis._straggler_day_tiles import Sizes, Stages, Tile, tile_of
from analysis._straggler_middle import Number, Real, Whole

#: Columns of ranks that were compared.
UNITS: Final = pl.Schema({"rank": pl.Int32, "unit_scope": pl.String, "unit": pl.Int32})

#: Columns of the total of a step.
TOTALS: Final = pl.Schema(
    {
        "attempt": pl.Int32,
        "step": pl.Int64,
        "slowest_rank": pl.Int32,
        "slowest_work_ns": pl.Int64,
        "typical_work_ns": pl.Int64,
        "ranks_seen": pl.Int64,
        "longest_ns": pl.Int64,
        "even_work_ns": pl.Int64,
    }
)


@dataclass(frozen=True, slots=True)
class Compared:
    """What is kept of a piece.

    Attributes:
        attempt: Its attempt.
        blocks: Number of each block in its attempt and day, its first and last step.
        units: Columns UNITS of ranks with enough peers.
        ratios: Median ratio, blocks by units; NaN where it is not known. [1]
        stages: Stages that were compared with each other.
        stage_ratios: The same of stages. [1]
        totals: One row for each step.
        ranks: All ranks of the piece.
        reports: Number of each report in its attempt and day.
        report_work: Median own work, reports by ranks; NaN where none. [ns]
    """

    attempt: int
    blocks: Whole
    units: pl.DataFrame
    ratios: Number
    stages: Whole
    stage_ratios: Number
    totals: pl.DataFrame
    ranks: Whole
    reports: Whole
    report_work: Number


#: Compares a piece whose steps differ in ranks.
General = Callable[[Piece], Compared]


@dataclass(frozen=True, slots=True)
class Ready:
    """A piece, and the same as an array, where it is one: rows are then forgotten."""

    piece: Piece
    grid: Grid | None

    @classmethod
    def of(cls, piece: Piece) -> "Ready":
        """Take what is needed of a piece."""
        grid = grid_of(piece)
        if grid is None or not grid.has_peers_at_work():
            return cls(piece, None)
        return cls(replace(piece, rows=piece.rows.clear()), grid)


def compare(ready: Ready, places: Places, sizes: Sizes, general: General) -> Compared:
    """Compare the ranks of a piece with their peers, step by step.

    Args:
        ready: Steps of an attempt.
        places: Stages of its ranks.
        sizes: How steps are brought together.
        general: For pieces that are no array.
    """
    if ready.grid is None:
        return general(ready.piece)
    return _compared(ready.piece, ready.grid, places, sizes)


def _compared(piece: Piece, grid: Grid, places: Places, sizes: Sizes) -> Compared:
    order, parts = slices(places.stages_of(grid.ranks))
    tested = [part for part in parts if part[2] - part[1] > sizes.min_peers]
    stages = Stages(order, parts, tested)
    length = sizes.tile(len(grid.ranks))
    tiles = [
        tile_of(grid.work_ns[start : start + length], stages, sizes)
        for start in range(0, len(grid.steps), length)
    ]
    return _together(piece, grid, stages, tiles, sizes)


def _together(
    piece: Piece, grid: Grid, stages: Stages, tiles: list[Tile], sizes: Sizes
) -> Compared:
    kept = stages.kept
    sort = np.argsort(kept)
    ranks = grid.ranks[kept[sort]]
    scopes = ["gpu"] * len(ranks)
    named = [name for name, _, _ in stages.parts if name != NO_STAGE]
    many = len(named) > sizes.min_peers
    steps = np.concatenate([tile.steps for tile in tiles], axis=1)
    units = {"rank": ranks, "unit_scope": scopes, "unit": ranks}
    return Compared(
        piece.attempt,
        bounds_of(piece, sizes.block),
        pl.DataFrame(units, schema_overrides=UNITS),
        np.concatenate([tile.ratios for tile in tiles])[:, sort],
        np.array(named if many else [], np.int64),
        np.concatenate([tile.stage_ratios for tile in tiles]),
        _totals(piece, grid, steps),
        grid.ranks,
        reports_of(piece, sizes.report),
        np.concatenate([tile.report_work for tile in tiles]),
    )


def reports_of(piece: Piece, report_steps: int) -> Whole:
    """Return the number of each report of a piece, in its attempt and day."""
    count = -(-len(piece.steps) // report_steps)
    return np.arange(count) + piece.number // report_steps


def bounds_of(piece: Piece, block_steps: int) -> Whole:
    """Return number, first and last step of each block of a piece."""
    first = np.arange(0, len(piece.steps), block_steps)
    last = np.minimum(first + block_steps, len(piece.steps)) - 1
    number = piece.number // block_steps + np.arange(len(first))
    return np.stack([number, piece.steps[first], piece.steps[last]], axis=1)


def _totals(piece: Piece, grid: Grid, steps: Real) -> pl.DataFrame:
    most = grid.work_ns.argmax(axis=1)
    typical, even = np.rint(steps).astype(np.int64)
    rows = {
        "attempt": piece.attempt,
        "step": grid.steps,
        "slowest_rank": grid.ranks[most],
        "slowest_work_ns": grid.work_ns[np.arange(len(most)), most],
        "typical_work_ns": typical,
        "ranks_seen": len(grid.ranks),
        "longest_ns": grid.longest_ns,
        "even_work_ns": even,
    }
    return pl.DataFrame(rows, schema_overrides=TOTALS)
