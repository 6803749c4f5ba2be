"""Statistics that a few wild values do not move, and tests over many things at once."""

from typing import Final

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
    itself. A row at or before the middle moves it on by one, so that of each group its
    three middle values tell the median for every row.

    Args:
        rows: Rows with a group and a value.
        group: Column of whole numbers.
        value: Column of numbers without nulls.

    Returns:
        The rows with `peers_count` and `peers_median`, which is null in a group of one.
    """
    peers = pl.len().cast(pl.Int64) - 1
    sorted_ = rows.group_by(group).agg(peers_count=peers, _values=pl.col(value).sort())
    of_group, count = pl.col("_values").list, pl.col("peers_count")
    middle = {"_low": ((count - 1) // 2).clip(0), "_high": count // 2}
    groups = sorted_.select(
        group,
        "peers_count",
        *(of_group.get(at).alias(name) for name, at in middle.items()),
        *(
            of_group.get(at + 1, null_on_oob=True).alias(f"{name}_next")
            for name, at in middle.items()
        ),
    )
    others = [
        pl.when(pl.col(value) <= pl.col(name)).then(f"{name}_next").otherwise(name)
        for name in middle
    ]
    # other columns would only be copied
    told = rows.select(group, value).join(
        groups, on=group, how="left", maintain_order="left"
    )
    known = pl.when(pl.col("peers_count") > 0).then((others[0] + others[1]) / 2)
    return rows.hstack(told.select("peers_count", peers_median=known))


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
