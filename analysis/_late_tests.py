"""How likely it is to be last so often by chance, and who is beyond that."""

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

#: Collectives of a rank up to which its tail is exact where groups differ in size; the
#: time it takes grows with their square. [1]
MOST_EXACT: Final = 4_096

#: Different mixtures of sizes, each of which takes a convolution. [1]
MOST_MIXTURES: Final = 64

_RANK: Final = ("run_id", "attempt", "rank")

Floats = npt.NDArray[np.float64]


def with_tails(ranks: pl.DataFrame, sizes: pl.DataFrame) -> pl.DataFrame:
    """Add each rank's chance of being last at least as often as it was. [1]

    Among n equal ranks each is last with probability 1/n. How often a rank was last is
    a sum of independent trials, with one binomial for each size of its groups, and has
    their convolution as its distribution. Where that would take too long, the binomial
    with the mean probability stands for it: its tail is at least as large, and the same
    where all groups have one size (Hoeffding, Ann. Math. Statist. 27, 1956, theorem 4).

    Args:
        ranks: `run_id`, `attempt`, `rank`, `collectives_count`, `last_count` and
            `expected_count`.
        sizes: `run_id`, `attempt`, `rank`, `ranks_seen` and `collectives_count`, one
            row for each size of its groups.
    """
    bounded = ranks.with_columns(p_value=_binomial(ranks))
    mixed = _mixtures(sizes)
    exact = [
        ranks.join(of_one, on=list(_RANK), how="semi").select(
            *_RANK, exact=_exact(of_one, pl.col("last_count"))
        )
        for of_one in mixed.partition_by("mixture")
    ]
    if not exact:
        return bounded
    known = bounded.join(pl.concat(exact), on=list(_RANK), how="left")
    return known.with_columns(p_value=pl.coalesce("exact", "p_value")).drop("exact")


def _binomial(ranks: pl.DataFrame) -> pl.Series:
    from scipy.stats import binom

    trials = ranks["collectives_count"].to_numpy()
    chance = ranks["expected_count"].to_numpy() / np.maximum(trials, 1)
    return pl.Series(binom.sf(ranks["last_count"].to_numpy() - 1, trials, chance))


def _mixtures(sizes: pl.DataFrame) -> pl.DataFrame:
    """Return ranks whose groups differ in size, those with the same sizes numbered."""
    counted = sizes.filter(pl.col("collectives_count") > 0).sort(*_RANK, "ranks_seen")
    by_rank = counted.group_by(_RANK, maintain_order=True).agg(
        "ranks_seen", "collectives_count", total=pl.col("collectives_count").sum()
    )
    is_mixed = pl.col("ranks_seen").list.len() > 1
    few = by_rank.filter(is_mixed, pl.col("total") <= MOST_EXACT)
    kinds = few.group_by("ranks_seen", "collectives_count").agg(pl.len())
    chosen = (
        kinds.sort("len", "ranks_seen", "collectives_count", descending=True)
        .head(MOST_MIXTURES)
        .with_row_index("mixture")
    )
    return few.join(chosen, on=["ranks_seen", "collectives_count"])


def _exact(ranks: pl.DataFrame, last: pl.Expr) -> pl.Expr:
    """Return the tail at how often each rank of one mixture was last."""
    sizes = ranks["ranks_seen"][0].to_numpy()
    trials = ranks["collectives_count"][0].to_numpy()
    tail = pl.Series(tail_of_sum(sizes, trials))
    return pl.lit(tail).gather(last)


def tail_of_sum(sizes: npt.NDArray[np.int64], trials: npt.NDArray[np.int64]) -> Floats:
    """Return the chance that a sum of binomials is at least 0, 1, 2 and so on. [1]

    Args:
        sizes: One over the probability of each binomial. [1]
        trials: Its trials. [1]
    """
    from scipy.stats import binom

    mass = np.ones(1)
    for size, count in zip(sizes, trials, strict=True):
        mass = np.convolve(mass, binom.pmf(np.arange(count + 1), count, 1 / size))
    return np.asarray(np.minimum(np.cumsum(mass[::-1])[::-1], 1.0))


def holm(ranks: pl.DataFrame, significance: float) -> pl.DataFrame:
    """Tell which ranks are late, at a level over all of their attempt together.

    The smallest p-value is held against level / m, the next one against
    level / (m - 1), and so on until the first that stands.
    Source: Holm, Scand. J. Statist. 6, 1979.

    Args:
        ranks: `run_id`, `attempt`, `rank` and `p_value`.
        significance: Chance of flagging any rank of an attempt of equal ranks. [1]
    """
    attempt = ("run_id", "attempt")
    p_value, order = pl.col("p_value"), pl.int_range(pl.len())
    ordered = ranks.sort(*attempt, "p_value", "rank").with_columns(
        falls=(p_value * (pl.len() - order) < significance).over(attempt)
    )
    is_late = pl.col("falls").cast(pl.Int8).cum_min().over(attempt) > 0
    return ordered.with_columns(is_late=is_late)
