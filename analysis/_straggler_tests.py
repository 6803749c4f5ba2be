"""Which things are slower than their peers, beyond chance and beyond what is normal."""

from typing import Final

import numpy as np
import polars as pl

from analysis._straggler_limits import Limits
from analysis._straggler_scatter import of_pairs, typical
from analysis.robust import false_discovery_q, lag_correlation, robust_sd, widening

#: Blocks that a test needs: with fewer a t-test can hardly be significant.
MIN_BLOCKS: Final = 3

#: Things of a kind up to which each is held against the others' spread without it. [1]
FEW: Final = 64

#: Columns of things that are compared with each other.
_KIND: Final = ("run_id", "scope")


def judge(blocks: pl.DataFrame, things: pl.DataFrame, limits: Limits) -> pl.DataFrame:
    """Test each thing's blocks against the slowdown that is normal.

    A one-sided t-test on the logarithms of block medians. Medians forget single slow
    steps, their logarithms are nearly normal, and other than a sign test it can be
    significant after three blocks among thousands of ranks. Where blocks still follow
    each other, the error is widened as for a first-order autoregression.

    Args:
        blocks: Blocks of things.
        things: Columns `thing`, `run_id`, `scope` and `scope_id`.
        limits: What counts as slow.

    Returns:
        One row per thing with enough blocks, with `blocks` (their number), `slowdown`
        (the median of its blocks), `error` (of the mean logarithm), `block_sd` and
        `widening` (of its kind), `p_value`, `q_value`, `gate` and `is_slow`. [1]
    """
    return judge_statistics(_statistics(blocks.join(things, on="thing")), limits)


def judge_statistics(things: pl.DataFrame, limits: Limits) -> pl.DataFrame:
    """Test things of which the statistics of their blocks are known, as `judge` does.

    Args:
        things: Columns `thing`, `run_id`, `scope`, `scope_id`, `blocks`, and of their
            logarithms `mean`, `median`, `sd` and `lag`, the correlation with the next,
            about the mean; `pair_sd` and `pair_lag` about a level that may change.
        limits: What counts as slow.
    """
    known = _with_errors(things)
    tested = known.filter(pl.col("blocks") >= MIN_BLOCKS)
    tested = tested.with_columns(p_value=_tail(tested, np.log(limits.null_ratio)))
    gate = pl.max_horizontal(
        (pl.col("spread") * limits.gate_sds).exp(), limits.gate_ratio
    )
    judged = (
        _with_spreads(tested)
        .sort("thing")
        .with_columns(
            slowdown=pl.col("median").exp(),
            q_value=false_discovery_q(pl.col("p_value")).over("run_id"),
            gate=gate,
        )
    )
    beyond_chance = pl.col("q_value") < limits.false_share
    is_slow = beyond_chance & (pl.col("slowdown") >= pl.col("gate"))
    return judged.with_columns(is_slow=is_slow)


def _statistics(blocks: pl.DataFrame) -> pl.DataFrame:
    """Return mean, median, scatter and lag of each thing's logarithms. [1]"""
    log = pl.col("log")
    ordered = blocks.sort("thing", "place").with_columns(log=pl.col("ratio").log())
    residual = log - log.mean()
    return ordered.group_by("thing", *_KIND, "scope_id").agg(
        blocks=pl.len().cast(pl.Int64),
        mean=log.mean(),
        median=log.median(),
        sd=log.std(),
        lag=lag_correlation(residual, residual.shift(-1)),
        **of_pairs(log),
    )


def _with_errors(things: pl.DataFrame) -> pl.DataFrame:
    """Add the error of each thing's mean, and the scatter of blocks of its kind. [1]"""
    wider = widening(typical("lag", "pair_lag")).over(_KIND)
    return things.with_columns(
        error=pl.col("sd") / pl.col("blocks").sqrt() * wider,
        block_sd=typical("sd", "pair_sd").over(_KIND) * wider,
        widening=wider,
    )


def _with_spreads(tested: pl.DataFrame) -> pl.DataFrame:
    """Add how much the medians of a thing's kind differ, without it where they are few.

    Among few, one that is slow widens what it is held against.
    """
    things = pl.len().over(_KIND)
    of_kind = robust_sd(pl.col("median")).over(_KIND)
    known = tested.with_columns(of_kind=of_kind, things=things)
    few = known.filter(pl.col("things") <= FEW).select("thing", *_KIND)
    others = tested.select(*_KIND, other="thing", others="median")
    pairs = few.join(others, on=list(_KIND)).filter(pl.col("thing") != pl.col("other"))
    alone = pairs.group_by("thing").agg(without=robust_sd(pl.col("others")))
    told = known.join(alone, on="thing", how="left")
    spread = pl.coalesce("without", "of_kind")
    return told.with_columns(spread=spread).drop("of_kind", "things", "without")


def _tail(tested: pl.DataFrame, normal: float) -> pl.Series:
    """Return the chance of so large a mean where the slowdown is normal. [1]"""
    from scipy.stats import t

    error = np.maximum(tested["error"].to_numpy(), np.finfo(np.float64).eps)
    beyond = (tested["mean"].to_numpy() - normal) / error
    return pl.Series(t.sf(beyond, tested["blocks"].to_numpy() - 1), dtype=pl.Float64)


def smallest_visible(tested: pl.DataFrame, limits: Limits) -> pl.DataFrame:
    """Return for each run the smallest slowdown of a unit that would be flagged.

    It must pass the gate, and be significant for a typical unit if that were the only
    slow thing among all that were tested.
    """
    from scipy.stats import t

    tests = pl.len().over("run_id")
    units = tested.with_columns(tests=tests).filter(
        pl.col("scope").is_in(["gpu", "dp_rank"])
    )
    typical = units.group_by("run_id").agg(
        pl.col("gate", "tests").max(), pl.col("error", "blocks").median()
    )
    level = limits.false_share / typical["tests"].to_numpy()
    needed = (
        t.isf(level, typical["blocks"].to_numpy() - 1) * typical["error"].to_numpy()
    )
    seen = pl.Series(np.exp(np.log(limits.null_ratio) + needed), dtype=pl.Float64)
    visible = pl.max_horizontal("gate", seen)
    is_known = visible.is_finite()
    return typical.select(
        "run_id", smallest_visible_ratio=pl.when(is_known).then(visible)
    )
