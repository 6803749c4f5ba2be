"""How blocks scatter about their level and follow each other, whatever the level does.

A thing that is slow for a while is never near its own mean, so that its blocks seem to
scatter, and to follow each other, much more than they do. Where half of a small fleet
has such spells, that is so of the typical thing, too. There is no level in what two
blocks that are a few apart differ by, but where it changed between them.
"""

from typing import Final

import polars as pl

from analysis.robust import MAD_TO_SD

#: Blocks that a pair is apart at most: 80 steps. Steps that correlate by 0.9 have
#: forgotten each other by then; what takes longer is a change of level.
MOST_APART: Final = 8

#: Blocks that a pair is apart at least: closer ones are still alike.
LEAST_APART: Final = 3

#: Blocks of a thing for each that a pair is apart, where that is between the two: a
#: spell has its ends in a tenth of all pairs then, which medians forget.
BLOCKS_FOR_ONE: Final = 20

#: Blocks that a thing must have: of fewer the ends of a spell are in most pairs.
LEAST_BLOCKS: Final = 24

#: Standard deviation of free normal values over the median of what pairs differ by.
OF_PAIRS: Final = MAD_TO_SD / 2**0.5


def of_pairs(log: pl.Expr) -> dict[str, pl.Expr]:
    """Return aggregations of a thing's blocks in order: their scatter and correlation.

    Where `far` and `near` are the medians of what pairs some blocks apart and next to
    each other differ by, the variance is half the square of one, as of normal values,
    and what one block tells of the next is 1 - near² / far².
    Source: differences for autocovariance where the level jumps, Tecuapetla-Gómez and
    Munk, Scand. J. Statist. 44, 2017; medians of them, Chakar, Lebarbier, Lévy-Leduc
    and Robin, Bernoulli 23, 2017.

    Args:
        log: Logarithms of blocks.

    Returns:
        `pair_sd`, the standard deviation about the level, and `pair_lag`, the
        correlation with the next block; null of few blocks, and where most far ones
        are equal. [1]
    """
    count = pl.len().cast(pl.Int64)
    apart = (count // BLOCKS_FOR_ONE).clip(LEAST_APART, MOST_APART)
    near, far = _difference(log, pl.lit(1)), _difference(log, apart)
    told = pl.when((count >= LEAST_BLOCKS) & (far > 0))
    return {
        "pair_sd": told.then(far * OF_PAIRS),
        "pair_lag": told.then(1 - (near / far) ** 2),
    }


def _difference(log: pl.Expr, apart: pl.Expr) -> pl.Expr:
    """Return the median of what blocks that are so many apart differ by. [1]"""
    difference = (log - log.shift(apart)).abs()
    return difference.filter(difference.is_finite()).median()


def typical(of_mean: str, of_pairs: str) -> pl.Expr:
    """Return an aggregation: the scatter or correlation of typical things of a kind.

    The smaller of two that are hardly ever too small: about means it is too large where
    levels change, and of pairs where few tell of it.
    """
    return pl.min_horizontal(pl.col(of_mean, of_pairs).median())
