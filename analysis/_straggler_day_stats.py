"""Statistics of all things of a day, and which of them may have been slow for long."""

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis._straggler_day_blocks import Blocks
from analysis._straggler_middle import Number, Whole, known_median
from analysis._straggler_scatter import (
    BLOCKS_FOR_ONE,
    LEAST_APART,
    LEAST_BLOCKS,
    MOST_APART,
    OF_PAIRS,
)
from analysis._straggler_stretches import EDGE

#: Things to take at once.
_AT_ONCE: Final = 512

_NAMES: Final = ("blocks", "mean", "median", "sd", "lag", "pair_sd", "pair_lag")


def statistics_of(blocks: Blocks, tested: pl.DataFrame) -> pl.DataFrame:
    """Return what `judge_statistics` takes, of the things that are tested.

    Args:
        blocks: Blocks of the day.
        tested: Columns `thing`, `run_id`, `scope` and `scope_id`.
    """
    ordered = tested.sort("thing")
    things = ordered["thing"].to_numpy()
    found = [
        _statistics(_log(blocks.values[things[start : start + _AT_ONCE]]))
        for start in range(0, len(things), _AT_ONCE)
    ]
    told = np.concatenate(found) if found else np.empty((0, len(_NAMES)))
    columns = [
        pl.Series(name, told[:, at], nan_to_null=True) for at, name in enumerate(_NAMES)
    ]
    named = ordered.with_columns(columns).with_columns(pl.col("blocks").cast(pl.Int64))
    return named.filter(pl.col("blocks") > 0)


def _log(values: Number) -> Number:
    with np.errstate(divide="ignore"):
        return np.log(values.astype(np.float64))


def _statistics(log: Number) -> Number:
    log = _without_gaps(log)
    known = ~np.isnan(log)
    count = known.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(known, log, 0).sum(axis=1) / count
        residual = np.where(known, log - mean[:, None], 0)
        squares = np.einsum("ij,ij->i", residual, residual)
        products = np.einsum("ij,ij->i", residual[:, :-1], residual[:, 1:])
        sd = np.sqrt(squares / np.where(count > 1, count - 1, np.nan))
        lag = np.where(squares > 0, products / squares, 0)
    told = [count, mean, known_median(log), sd, lag, *_of_pairs(log, count)]
    return np.stack(told, axis=1)


def _of_pairs(log: Number, count: Whole) -> tuple[Number, Number]:
    """Return the scatter of blocks and their lag, whatever their level does. [1]

    NaN where pairs do not tell.
    """
    apart = (count // BLOCKS_FOR_ONE).clip(LEAST_APART, MOST_APART)
    is_told = count >= LEAST_BLOCKS
    near, far = np.full((2, len(log)), np.nan)
    for blocks in np.unique(apart[is_told]).tolist():
        rows = is_told & (apart == blocks)
        near[rows] = _difference(log[rows], 1)
        far[rows] = _difference(log[rows], blocks)
    far[far == 0] = np.nan
    return far * OF_PAIRS, 1 - (near / far) ** 2


def _without_gaps(log: Number) -> Number:
    """Return the known blocks of each thing first, in their order."""
    is_gap = np.isnan(log)
    if not is_gap.any():
        return log
    return np.take_along_axis(log, np.argsort(is_gap, axis=1, kind="stable"), axis=1)


def _difference(log: Number, apart: int) -> Number:
    with np.errstate(invalid="ignore"):
        difference = np.abs(log[:, apart:] - log[:, :-apart])
    return known_median(np.where(np.isfinite(difference), difference, np.nan))


def may_be_slow(blocks: Blocks, judged: pl.DataFrame) -> Whole:
    """Return the things that are slow on the whole, or may have a spell.

    A spell has three running medians of three blocks above its level, and so two
    blocks above it that are next to each other, or next but one. One that goes on
    beyond the day has the first block above it, or the last.

    Args:
        blocks: Blocks of the day.
        judged: What the test of the whole day says of each thing.
    """
    level = pl.when("is_slow").then(pl.col("median") * EDGE)
    told = judged.select(
        "thing", "is_slow", level=level.otherwise(pl.col("gate").log())
    ).sort("thing")
    things, levels = told["thing"].to_numpy(), told["level"].to_numpy()
    found = [
        _meets(_log(blocks.values[things[at : at + _AT_ONCE]]), levels[at:][:_AT_ONCE])
        for at in range(0, len(things), _AT_ONCE)
    ]
    above = np.concatenate(found) if found else np.empty(0, bool)
    wanted: Whole = things[above | told["is_slow"].to_numpy()].astype(np.int64)
    return wanted


def _meets(log: Number, levels: Number) -> npt.NDArray[np.bool_]:
    # what rounds to single precision may be a little above its level, or below
    above = log >= levels[:, None] - np.finfo(np.float32).eps
    close = (above[:, 1:] & above[:, :-1]).any(axis=1)
    close |= (above[:, 2:] & above[:, :-2]).any(axis=1)
    close |= above[:, :1].any(axis=1) | above[:, -1:].any(axis=1)
    has_gaps = np.isnan(log).any(axis=1)
    found: npt.NDArray[np.bool_] = close | (has_gaps & (above.sum(axis=1) > 1))
    return found
