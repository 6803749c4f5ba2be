"""How blocks scatter about their level and follow each other, whatever the level does.

A thing that is slow for a while is never near its own mean, so that its blocks seem to
scatter, and to follow each other, much more than they do. Where half of a small fleet
has such spells, that is so of the typical thing, too. There is no level in what two
blocks that are a few apart differ by, but where it changed between them.
"""

from typing import Final

import polars as pl

from analysis.robust import MAD_TO_SD, lag_correlation

#: Blocks that a pair is apart at most: 80 steps. Steps that correlate by 0.9 have
#: forgotten each other by then; what takes longer is a change of level.
MOST_APART: Final = 8

#: Blocks that a pair must be apart: with less of them the two are still alike.
LEAST_APART: Final = 3

#: Blocks of a thing for each that a pair is apart: a change of level is between at most
#: an eighth of all pairs, and a spell between a quarter, which medians forget.
BLOCKS_FOR_ONE: Final = 8

#: Standard deviation of free normal values over the median of what pairs differ by.
OF_PAIRS: Final = MAD_TO_SD / 2**0.5


def scatter_and_lag(log: pl.Expr) -> dict[str, pl.Expr]:
    """Return aggregations of a thing's blocks in order: their scatter and correlation.

    Where `far` and `near` are the medians of what pairs some blocks apart and next to
    each other differ by, the variance is half the square of one, as of normal values,
    and what one block tells of the next is 1 - near² / far². Of few blocks, or where
    most far ones are equal, both are taken about the mean.
    Source: differences for autocovariance where the level jumps, Tecuapetla-Gómez and
    Munk, Scand. J. Statist. 44, 2017; medians of them, Chakar, Lebarbier, Lévy-Leduc
    and Robin, Bernoulli 23, 2017.

    Args:
        log: Logarithms of blocks.

    Returns:
        `scatter`, the standard deviation about the level, and `lag`, the correlation
        with the next block. [1]
    """
    apart = (pl.len().cast(pl.Int64) // BLOCKS_FOR_ONE).clip(upper_bound=MOST_APART)
    near, far = _difference(log, pl.lit(1)), _difference(log, apart)
    is_told = (apart >= LEAST_APART) & (far > 0)
    residual = log - log.mean()
    about_mean = lag_correlation(residual, residual.shift(-1))
    told = pl.when(is_told)
    return {
        "scatter": told.then(far * OF_PAIRS).otherwise(log.std()),
        "lag": told.then(1 - (near / far) ** 2).otherwise(about_mean),
    }


def _difference(log: pl.Expr, apart: pl.Expr) -> pl.Expr:
    """Return the median of what blocks that are so many apart differ by. [1]"""
    difference = (log - log.shift(apart)).abs()
    return difference.filter(difference.is_finite()).median()
