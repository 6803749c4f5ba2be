"""The line of a series: what a transfer takes without bytes, and for each byte.

A library takes for each size the fastest of several protocols, and each has its own
line. The fixed part is that of the first, the bandwidth that of the last: of lines of
which the lowest counts, none is below the least fixed part and the greatest bandwidth.
So the first sizes tell one and the last the other; where one line holds, they agree.
"""

from typing import Final

import polars as pl

from analysis._latency_pieces import (
    FLOOR_RATIO,
    LAST_SHARE,
    pieces,
    portions,
    with_scale,
)

#: Share of repetitions whose interval holds the truth. [1]
CONFIDENCE: Final = 0.95

#: Beyond so many transfers of a size chance is small beside what sizes differ by, and
#: they all weigh alike. [1]
MOST_WEIGHT: Final = 16

#: Variance of a median over that of a mean, of normal errors: pi / 2. [1]
_MEDIAN_VARIANCE: Final = 1.5708

#: Room for the rounding of sums of weights.
_HALF_LOW, _HALF_HIGH = 0.5 - 1e-12, 0.5 + 1e-12

_LINE: Final = ("series", "piece")


def fit_lines(
    found: pl.DataFrame,
    floor_ratio: float = FLOOR_RATIO,
    last_share: float = LAST_SHARE,
) -> pl.DataFrame:
    """Fit the first and the last line of each series.

    Slopes are weighted medians of the slopes between all pairs of sizes, each weighing
    as it is sure where errors are shares of the times; the fixed part is the weighted
    median of what is left. Sources: Theil 1950; Sen, JASA 63, 1968; the weights as in
    Sievers, JASA 73, 1978. Intervals are those of least squares with these weights and
    a t quantile, the median's part pi/2 wider: robust lines are nearly as sure.

    Args:
        found: `series`, `size`, `time` and `weight` of points of at least FEWEST_SIZES
            sizes in each series.
        floor_ratio: How far times of the first line may exceed the floor. [1]
        last_share: Sizes of the last line over the largest, at least. [1]

    Returns:
        A row per series: `fixed`, `fixed_error`, `slope` and `slope_error`. [ns, ns/B]
    """
    found = with_scale(found.sort("series", "size"))
    lines = [
        _fit(piece)
        for part in portions(found)
        for piece in pieces(part, floor_ratio, last_share)
    ]
    if not lines:
        numbers = ("fixed", "fixed_error", "slope", "slope_error")
        empty = found.select("series").clear()
        return empty.with_columns(pl.lit(0.0).alias(name) for name in numbers)
    all_lines = pl.concat(lines)
    first = all_lines.filter(piece="first").select("series", "fixed", "fixed_error")
    last = all_lines.filter(piece="last").select("series", "slope", "slope_error")
    return first.join(last, on="series").sort("series")


def _fit(piece: pl.DataFrame) -> pl.DataFrame:
    """Return the line of each series through its points."""
    slopes = _weighted_median(_slopes(piece), "slope")
    with_slope = piece.join(slopes, on=list(_LINE)).with_columns(
        rest=pl.col("time") - pl.col("slope") * pl.col("size"),
        sure=1 / pl.col("noise"),
    )
    fixed = _weighted_median(
        with_slope.select(*_LINE, rest="rest", sure="sure"), "rest"
    ).rename({"rest": "fixed"})
    return _with_errors(with_slope.join(fixed, on=list(_LINE)))


def _slopes(piece: pl.DataFrame) -> pl.DataFrame:
    """Return the slopes between all pairs of sizes, and how sure each is. [ns/B]"""
    columns = piece.select(*_LINE, "size", "time", "noise")
    apart = pl.col("size_right") - pl.col("size")
    noise = (pl.col("noise") ** 2 + pl.col("noise_right") ** 2).sqrt()
    return (
        columns.join(columns, on=list(_LINE))
        .filter(apart > 0)
        .select(
            *_LINE,
            slope=(pl.col("time_right") - pl.col("time")) / apart,
            sure=apart / noise,
        )
    )


def _weighted_median(rows: pl.DataFrame, value: str) -> pl.DataFrame:
    """Return the weighted median of each line's values, the mean of two on a tie."""
    ordered = rows.sort(*_LINE, value, "sure").with_columns(
        passed=pl.col("sure").cum_sum().over(_LINE) / pl.col("sure").sum().over(_LINE)
    )
    passed, values = pl.col("passed"), pl.col(value)
    low = values.filter(passed >= _HALF_LOW).first()
    high = pl.coalesce(values.filter(passed > _HALF_HIGH).first(), values.last())
    middle = ordered.group_by(_LINE).agg(((low + high) / 2).alias(value))
    return middle.sort(_LINE)


def _with_errors(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each line with half the length of its intervals."""
    weight = pl.col("sure") ** 2
    off = (pl.col("rest") - pl.col("fixed")) * pl.col("sure")
    centre = ((weight * pl.col("size")).sum() / weight.sum()).over(_LINE)
    sums = (
        rows.sort(*_LINE, "size")
        .with_columns(centre=centre, off=off, w=weight)
        .group_by(_LINE)
        .agg(
            pl.col("slope", "fixed", "centre").first(),
            freedom=pl.len().cast(pl.Int64) - 2,
            squares=(pl.col("off") ** 2).sum(),
            weights=pl.col("w").sum(),
            spread=(pl.col("w") * (pl.col("size") - pl.col("centre")) ** 2).sum(),
        )
    )
    sd = (pl.col("squares") / pl.col("freedom")).sqrt() * pl.col("quantile")
    of_fixed = _MEDIAN_VARIANCE / pl.col("weights")
    of_fixed += pl.col("centre") ** 2 / pl.col("spread")
    return sums.join(_quantiles(sums["freedom"]), on="freedom").select(
        *_LINE,
        "fixed",
        "slope",
        fixed_error=sd * of_fixed.sqrt(),
        slope_error=sd / pl.col("spread").sqrt(),
    )


def _quantiles(freedom: pl.Series) -> pl.DataFrame:
    """Return the t quantile of each number of degrees of freedom. [1]"""
    from scipy.special import stdtrit

    degrees = freedom.unique().sort()
    upper = stdtrit(degrees.to_numpy(), (1 + CONFIDENCE) / 2)
    return pl.DataFrame({"freedom": degrees, "quantile": upper})
