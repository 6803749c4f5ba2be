"""Lines beside the points that they were fitted to."""

from typing import Final

import polars as pl

from analysis._latency_fit import MOST_WEIGHT, fit_lines
from analysis._latency_pieces import FEWEST_SIZES

#: Below so many transfers of a size its 99th percentile is one of the largest few. [1]
TAIL_COUNT: Final = 100

#: Longest time that a column holds, and largest size. [ns, B]
LARGEST: Final = 9e18

_SIZE, _TIME = pl.col("bytes_total"), pl.col("p50")


def lines(found: pl.DataFrame, floor_ratio: float, last_share: float) -> pl.DataFrame:
    """Return the lines of all series that have sizes enough.

    Args:
        found: What `points` returns, with `series`.
        floor_ratio: How far times of the first line may exceed the floor. [1]
        last_share: Sizes of the last line over the largest, at least. [1]

    Returns:
        A row per series: `alpha`, `slope` (null unless positive), with `_low` and
        `_high` of both. [ns, ns/B]
    """
    sized = found.filter((_SIZE > 0) & (_TIME > 0))
    enough = pl.len().over("series") >= FEWEST_SIZES
    weight = pl.col("count").clip(1, MOST_WEIGHT).cast(pl.Float64)
    fitted = fit_lines(
        sized.filter(enough).select(
            "series", size=_SIZE.cast(pl.Float64), time=_TIME, weight=weight
        ),
        floor_ratio,
        last_share,
    )
    fixed, slope = pl.col("fixed"), pl.col("slope")
    return fitted.select(
        "series",
        alpha=fixed.clip(0, LARGEST),
        alpha_low=(fixed - pl.col("fixed_error")).clip(0, LARGEST),
        alpha_high=(fixed + pl.col("fixed_error")).clip(0, LARGEST),
        slope=pl.when(slope > 0).then(slope),
        slope_low=_positive(slope - pl.col("slope_error")),
        slope_high=_positive(slope + pl.col("slope_error")),
    )


def _positive(slope: pl.Expr) -> pl.Expr:
    return pl.when(slope > 0).then(slope)


def beside_lines(
    found: pl.DataFrame, fitted: pl.DataFrame, tail_count: float = TAIL_COUNT
) -> pl.DataFrame:
    """Add to each point what its line says, and the bandwidths of both.

    Args:
        found: What `points` returns, with `series`.
        fitted: What `lines` returns.
        tail_count: Transfers of a size that a tail needs. [1]

    Returns:
        The points with `line`, `line_low`, `line_high` [ns], `over` (time over line),
        and `busbw`, `line_busbw` with their ends. [GB/s]
    """
    joined = found.join(fitted, on="series", how="left")
    at_size = pl.col("alpha") + pl.col("slope") * _SIZE
    line = pl.when(_SIZE > 0).then(at_size.clip(0, LARGEST))
    low = pl.col("alpha_low") + pl.col("slope_low").fill_null(0) * _SIZE
    high = pl.col("alpha_high") + pl.col("slope_high") * _SIZE
    known = joined.with_columns(line=line).with_columns(
        line_low=pl.when(pl.col("line") > 0).then(low.clip(0, LARGEST)),
        line_high=pl.when(pl.col("line") > 0).then(high.clip(0, LARGEST)),
        over=pl.when(pl.col("line") > 0).then(_TIME / pl.col("line")),
        tail=pl.when(_has_tail(tail_count)).then(pl.col("p99") - _TIME),
    )
    names = {
        "busbw": "p50",
        "busbw_low": "p95",
        "busbw_high": "p05",
        "line_busbw": "line",
        "line_busbw_low": "line_high",
        "line_busbw_high": "line_low",
    }
    return known.with_columns(**{name: _busbw(of) for name, of in names.items()})


def _has_tail(least: float) -> pl.Expr:
    """Return whether a tail can be told: many transfers of one size."""
    return (pl.col("count") >= least) & pl.col("low_bytes").eq_missing(
        pl.col("high_bytes")
    )


def _busbw(time: str) -> pl.Expr:
    """Return the bus bandwidth of a time; bytes over ns are GB/s. [GB/s]"""
    sound = (pl.col(time) > 0) & (_SIZE > 0)
    return pl.when(sound).then(_SIZE / pl.col(time)) * pl.col("factor")
