"""Statistics that a few wild values do not move, and tests over many things at once."""

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

#: Standard deviation of a normal distribution over its median absolute deviation. [1]
MAD_TO_SD: Final = 1.4826

#: Blocks follow each other too closely to tell anything beyond this correlation. [1]
MOST_CORRELATION: Final = 0.9


def robust_sd(values: pl.Expr) -> pl.Expr:
    """Return an aggregation: the spread of a group's middle, as a standard deviation.

    Source: median absolute deviation; Rousseeuw and Croux, JASA 88, 1993.
    """
    return (values - values.median()).abs().median() * MAD_TO_SD


def leave_one_out_median(rows: pl.DataFrame, group: str, value: str) -> pl.DataFrame:
    """Add to each row the median of the others in its group.

    In a sorted group the median of the others is its middle, passing over the row
    itself: two looks into the sorted column for each row, and no loop. Only the two
    columns are sorted, and the answers put back in the rows' order.

    Args:
        rows: Rows with a group and a value.
        group: Column of whole numbers.
        value: Column of numbers without nulls.

    Returns:
        The rows with `peers_count` and `peers_median`, which is null in a group of one.
    """
    ordered = rows.select(group, value).with_row_index("_row").sort(group, value)
    values, groups = ordered[value].to_numpy(), ordered[group].to_numpy()
    row = np.arange(len(groups))
    first = np.searchsorted(groups, groups, side="left")
    peers = np.searchsorted(groups, groups, side="right") - first - 1

    def other(position: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        place = first + np.maximum(position, 0)
        return np.minimum(place + (place >= row), len(groups) - 1)

    middle = (values[other((peers - 1) // 2)] + values[other(peers // 2)]) / 2
    back = np.empty(len(groups), np.int64)
    back[ordered["_row"].to_numpy()] = row
    median = pl.Series("peers_median", middle[back], dtype=pl.Float64)
    counted = rows.with_columns(pl.Series("peers_count", peers[back], pl.Int64), median)
    has_peers = pl.col("peers_count") > 0
    return counted.with_columns(pl.when(has_peers).then(pl.col("peers_median")))


def false_discovery_q(p_values: pl.Expr) -> pl.Expr:
    """Return q-values of a column of p-values that are tested together.

    Flagging all below q makes the expected share of false names among them at most q.
    Source: Benjamini and Hochberg, J. R. Statist. Soc. B 57, 1995.
    """
    tests = pl.len()
    order = p_values.rank("ordinal")
    scaled = (p_values * tests / order).sort_by(order, descending=True)
    steps_up = scaled.cum_min().reverse()
    return steps_up.gather(order - 1).clip(0, 1)


def lag_correlation(residuals: pl.Expr, following: pl.Expr) -> pl.Expr:
    """Return an aggregation: how much each residual tells of the next. [1]"""
    products = (residuals * following).sum()
    squares = (residuals * residuals).sum()
    return pl.when(squares > 0).then(products / squares).otherwise(0.0)


def widening(correlation: pl.Expr) -> pl.Expr:
    """Return what correlated values make of the error of a mean of free ones. [1]

    Source: variance of the mean of a first-order autoregression, Box and Jenkins.
    """
    lag = correlation.clip(0, MOST_CORRELATION)
    return ((1 + lag) / (1 - lag)).sqrt()
