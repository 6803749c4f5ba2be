"""Counts inside and outside of periods, and whether they differ by more than chance."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import polars as pl

from analysis._rate_cells import ALL
from analysis._rate_series import Series
from analysis.interrupt_rates import FEW_EVENTS
from analysis.rate_ratios import rate_ratio
from analysis.robust import false_discovery_q


def counted(windows: pl.DataFrame, found: Series) -> pl.DataFrame:
    """Count each category inside and outside of each window.

    The sum of all has a row also where nothing happened.

    Args:
        windows: `series`, `comparison`, `part`, `from_ns`, `to_ns` and `level`.
        found: The series.

    Returns:
        The windows by `category` with `before_count` and `after_count`.
    """
    every = found.things.with_columns(category=pl.lit(ALL))
    things = pl.concat([found.things, every])
    whole = found.names.select("series", category=pl.lit(ALL))
    kinds = pl.concat([things.select("series", "category"), whole]).unique()
    keys = ["series", "category", "comparison", "part"]
    counts = (
        things.join(windows, on="series")
        .group_by(keys)
        .agg(
            total=pl.len().cast(pl.Int64),
            after_count=_is_inside().sum().cast(pl.Int64),
        )
    )
    cells = windows.join(kinds, on="series").join(counts, on=keys, how="left")
    filled = cells.with_columns(pl.col("total", "after_count").fill_null(0))
    return filled.with_columns(
        before_count=pl.col("total") - pl.col("after_count")
    ).drop("total")


def _is_inside() -> pl.Expr:
    """Return whether a thing is in its window. The end of an attempt is its last ns."""
    at = pl.col("time_ns") - (pl.col("level") == "interruption").cast(pl.Int64)
    is_open = pl.col("comparison") != "week"
    return (at >= pl.col("from_ns")) & (is_open | (at < pl.col("to_ns")))


def tested(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cell with the ratio of its rates, and the test of it.

    Args:
        cell: Counts and times outside (before) and inside (after) of a window. [ns]
    """
    before, after = int(cell["before_time_ns"]), int(cell["after_time_ns"])
    told = dict(cell) | {
        "change_ns": cell["from_ns"],
        "until_ns": cell["to_ns"],
        "before_time_ns": Decimal(before),
        "after_time_ns": Decimal(after),
    }
    counts = (cell["before_count"], cell["after_count"])
    if sum(counts) < FEW_EVENTS:
        return told
    found = rate_ratio((counts[0], before), (counts[1], after))
    return told | {
        "rate_ratio": found.ratio,
        "low_rate_ratio": found.low,
        "high_rate_ratio": found.high,
        "p_value": found.p_value,
    }


def judged(rows: pl.DataFrame, q: float) -> pl.DataFrame:
    """Add the q-values and the verdicts.

    Weeks and halves are tested together; the causes of a date, which somebody asked
    about, are a family of their own.

    Args:
        rows: Rows of `tested`, in an order that does not depend on their source.
        q: Share of false names among the changes that are named. [1]
    """
    p_value, asked = pl.col("p_value"), pl.col("comparison") == "date"
    q_values = false_discovery_q(p_value).over(asked, p_value.is_null())
    return rows.with_columns(
        q_value=pl.when(p_value.is_not_null()).then(q_values)
    ).with_columns(verdict=_verdict(q))


def _verdict(q: float) -> pl.Expr:
    is_more = pl.col("rate_ratio").is_null() | (pl.col("rate_ratio") > 1)
    return (
        pl.when(pl.col("p_value").is_null())
        .then(pl.lit("not_testable"))
        .when(pl.col("q_value") >= q)
        .then(pl.lit("not_told_apart"))
        .when(is_more)
        .then(pl.lit("rose"))
        .otherwise(pl.lit("fell"))
    )
