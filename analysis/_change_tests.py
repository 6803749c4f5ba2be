"""Whether two means differ by more than the noise of their samples."""

from typing import Final

import polars as pl

#: Degrees of freedom from which a spread tells anything: of two samples it is a guess.
LEAST_FREEDOM: Final = 2.0

#: Spread that samples are given at least, as a share of what they measure: numbers that
#: are equal to the letter are rounded, not known without an error. [1]
LEAST_SPREAD: Final = 1e-4

_BY: Final = ["measure", "subject"]

#: Confidence of the intervals. [1]
_CONFIDENCE: Final = 0.95


def differences(
    before: pl.DataFrame, now: pl.DataFrame, least: float = 1.0
) -> pl.DataFrame:
    """Compare weighted means of samples by their common spread.

    Student's t-test of two means with weights: the spread is that of the samples of
    both sides around their own mean, so that a single day is held against the spread
    of the days before it. Weights enter as Kish's effective number of samples (Survey
    Sampling, 1965).

    Args:
        before: `measure`, `subject`, `value` and `weight` of the baseline.
        now: The same of what is compared with it.
        least: Effective samples that each side must have. [1]

    Returns:
        `measure`, `subject`, `before`, `now`, `noise` (half the width of the 95 %
        interval of their difference; null where there are too few samples) and
        `p_value`.
    """
    sides = _moments(before, "before").join(_moments(now, "now"), on=_BY)
    freedom = pl.col("before_free") + pl.col("now_free")
    squares = pl.col("before_squares") + pl.col("now_squares")
    floor = LEAST_SPREAD * pl.max_horizontal(
        pl.col("before").abs(), pl.col("now").abs()
    )
    spread = pl.max_horizontal((squares / freedom).sqrt(), floor)
    error = spread * (1 / pl.col("before_count") + 1 / pl.col("now_count")).sqrt()
    fewest = pl.min_horizontal("before_count", "now_count")
    is_enough = (freedom >= LEAST_FREEDOM) & (fewest >= least)
    told = sides.with_columns(freedom=freedom, error=pl.when(is_enough).then(error))
    return _tested(told).sort(_BY)


def _moments(samples: pl.DataFrame, side: str) -> pl.DataFrame:
    """Return mean, effective count, freedom and weighted squares of samples."""
    value, weight = pl.col("value"), pl.col("weight")
    ordered = samples.sort(*_BY, "value", "weight")
    mean = (value * weight).sum() / weight.sum()
    count = weight.sum() ** 2 / (weight * weight).sum()
    away = (weight * (value - mean) ** 2).sum() / weight.sum()
    return ordered.group_by(_BY).agg(
        mean.alias(side),
        count.alias(f"{side}_count"),
        (count - 1).clip(0).alias(f"{side}_free"),
        (away * count).alias(f"{side}_squares"),
    )


def _tested(rows: pl.DataFrame) -> pl.DataFrame:
    from scipy.stats import t

    told = rows.with_columns(change=pl.col("now") - pl.col("before"))
    freedom = told["freedom"].to_numpy()
    error = told["error"].fill_null(float("nan")).to_numpy()
    reach = t.ppf((1 + _CONFIDENCE) / 2, freedom) * error
    distance = (told["change"] / told["error"]).abs().fill_null(float("nan")).to_numpy()
    p_value = 2 * t.sf(distance, freedom)
    return told.with_columns(
        noise=pl.Series(reach, dtype=pl.Float64).fill_nan(None),
        p_value=pl.Series(p_value, dtype=pl.Float64).fill_nan(None),
    ).select(*_BY, "before", "now", "change", "noise", "p_value")
