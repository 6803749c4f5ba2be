"""A piece of a day whose steps differ in ranks, compared row by row."""

from typing import Final

import numpy as np
import polars as pl

from analysis._straggler_day_pass import TOTALS, UNITS, Compared, bounds_of, reports_of
from analysis._straggler_day_pieces import Piece
from analysis._straggler_day_tiles import Sizes
from analysis._straggler_losses import totals_of
from analysis._straggler_middle import Number, Whole
from analysis._straggler_scores import blocks_of, score_stages, score_units
from analysis._straggler_seats import seat
from analysis._straggler_work import keep_first

_UNIT: Final = ["rank", "unit_scope", "unit"]


def numbered(piece: Piece, owner: str, block_steps: int) -> pl.DataFrame:
    """Return the rows of a piece with their run, `work_ns`, `number` and `block`.

    Of a rank that has a step twice, the first counts.

    Args:
        piece: Steps of an attempt.
        owner: Their run.
        block_steps: Steps of a block. [1]
    """
    counts = np.diff(piece.starts)
    number = np.repeat(piece.number + np.arange(len(piece.steps)), counts)
    work = (pl.col("duration_ns") - pl.col("wait_ns")).clip(0)
    rows = piece.rows.with_columns(
        run_id=pl.lit(owner),
        number=pl.Series(number, dtype=pl.UInt32),
        block=pl.Series(number // block_steps, dtype=pl.Int64),
        work_ns=work,
    )
    return keep_first(rows).sort("number", "rank")


def compare_rows(
    piece: Piece, owner: str, seats: pl.DataFrame, sizes: Sizes
) -> Compared:
    """Compare the ranks of a piece with their peers, whatever each step has.

    Args:
        piece: Steps of an attempt.
        owner: Their run.
        seats: Where ranks sit.
        sizes: How steps are brought together.
    """
    rows = seat(numbered(piece, owner, sizes.block), seats)
    units = score_units(rows, sizes.min_peers)
    blocks = blocks_of(units, _UNIT).sort(*_UNIT)
    stages = blocks_of(score_stages(rows, sizes.min_peers), ["stage"]).sort("stage")
    bounds = bounds_of(piece, sizes.block)
    known = blocks.select(_UNIT).unique().sort(_UNIT).cast(UNITS)
    named = stages["stage"].unique().sort().cast(pl.Int64).to_numpy()
    at = known.with_row_index("at")
    placed = blocks.cast({"rank": pl.Int32, "unit": pl.Int32}).join(at, on=_UNIT)
    where = pl.DataFrame({"stage": named}).with_row_index("at")
    staged = stages.cast({"stage": pl.Int64}).join(where, on="stage")
    ranks, reports, work = _reports(rows, piece, sizes)
    return Compared(
        piece.attempt,
        bounds,
        known,
        _array(placed, bounds, known.height).astype(np.float32),
        named,
        _array(staged, bounds, len(named)),
        _totals(rows, units),
        ranks,
        reports,
        work,
    )


def _array(blocks: pl.DataFrame, bounds: Whole, width: int) -> Number:
    """Return blocks by things, NaN where a thing has no block."""
    found = np.full((len(bounds), width), np.nan)
    first = int(bounds[0, 0]) if len(bounds) else 0
    found[blocks["block"].to_numpy() - first, blocks["at"].to_numpy()] = blocks["ratio"]
    return found


def _totals(rows: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    step = ["attempt", "step"]
    stages = rows.group_by(*step, "stage").agg(
        pl.col("work_ns").median(), pl.col("duration_ns").max()
    )
    others = (
        stages.sort(*step, "stage")
        .group_by(step, maintain_order=True)
        .agg(
            longest_ns=pl.col("duration_ns").max(),
            even_work_ns=pl.col("work_ns").mean().round().cast(pl.Int64),
        )
    )
    totals = totals_of(units.with_columns(repaired_ns="work_ns"))
    told = totals.join(others, on=step).sort(step)
    return told.select(list(TOTALS)).cast(TOTALS)


def _reports(
    rows: pl.DataFrame, piece: Piece, sizes: Sizes
) -> tuple[Whole, Whole, Number]:
    """Return the ranks, the reports, and the median work of each in each. [ns]"""
    report = (pl.col("number") // sizes.report).cast(pl.Int64)
    medians = rows.group_by("rank", report=report).agg(pl.col("work_ns").median())
    reports = reports_of(piece, sizes.report)
    ranks = rows["rank"].unique().sort().cast(pl.Int64).to_numpy()
    work = np.full((len(reports), len(ranks)), np.nan)
    at = np.searchsorted(ranks, medians["rank"].to_numpy())
    first = int(reports[0]) if len(reports) else 0
    work[medians["report"].to_numpy() - first, at] = medians["work_ns"]
    return ranks, reports, work
