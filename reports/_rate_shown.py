"""The rate that a page leads with, and how rates and chances are said."""

from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis.interrupt_rates import FEW_EVENTS, InterruptRates
from reports import _sql
from reports._numbers import duration, percent, significant
from reports._section import Scope

Row = dict[str, Any]

#: Chances below are said as one in so many.
_ODDS_BELOW: Final = 0.01

_MILLION: Final = 10**6
_BILLION: Final = 10**9

WHOLE: Final = (pl.col("category") == "all") & (pl.col("component") == "all")


def headline(frames: Frames, scope: Scope) -> Row | None:
    """Return the interruptions of the run that has most of them, or ran longest.

    Args:
        frames: The tables.
        scope: Runs of the page.
    """
    rows = scope.of_runs(frames[InterruptRates]).filter(
        WHOLE,
        (pl.col("scope") == "run")
        & (pl.col("level") == "interruption")
        & (pl.col("exposure_ns") > 0),
    )
    ordered = rows.sort(
        ["count", "exposure_ns", "run_id"], descending=[True, True, False]
    )
    found = ordered.head(1).collect()
    return found.row(0, named=True) if found.height else None


def runs_with_rates(frames: Frames, scope: Scope) -> int:
    """Return how many runs of the page were observed."""
    rows = scope.of_runs(frames[InterruptRates]).filter(
        (pl.col("scope") == "run") & (pl.col("level") == "interruption")
    )
    return int(rows.select(pl.col("run_id").n_unique()).collect().item())


def of_row(frame: pl.LazyFrame, row: Row) -> pl.LazyFrame:
    """Return what another table says of the same run at the same level.

    Args:
        frame: Rows with `run_id`, `scope` and `level`.
        row: The rate that the page leads with.
    """
    return frame.filter(
        (pl.col("run_id") == row["run_id"])
        & (pl.col("scope") == "run")
        & (pl.col("level") == row["level"])
    )


def where_row(row: Row) -> str:
    """Return the condition of the same rows in SQL."""
    return (
        f"run_id = {_sql.literal(row['run_id'])} AND scope = 'run'"
        f" AND level = {_sql.literal(row['level'])}"
    )


def mean_time(row: Row, level: str = "95 %: ") -> str:
    """Return a mean time with its interval: 3.09 h (95 %: 2.81 h to 3.41 h).

    Args:
        row: Its `count`, `mtbf_ns`, `mtbf_low_ns` and `mtbf_high_ns`.
        level: What stands before the interval; empty under a title that says it.
    """
    low, high = duration(row["mtbf_low_ns"]), row["mtbf_high_ns"]
    if row["count"] < FEW_EVENTS or row["mtbf_ns"] is None:
        to = f", at most {duration(high)}" if high is not None else ""
        return f"at least {low}{to}"
    until = duration(high) if high is not None else "unbounded"
    return f"{duration(row['mtbf_ns'])} ({level}{low} to {until})"


def rate(row: Row) -> str:
    """Return a rate per 1000 node-days with its interval; a dash below five."""
    if row["count"] < FEW_EVENTS or row["per_1000_node_days"] is None:
        return "\N{EN DASH}"
    low, high = row["per_1000_node_days_low"], row["per_1000_node_days_high"]
    return (
        f"{significant(row['per_1000_node_days'])}"
        f" ({significant(low)} to {significant(high)})"
    )


def chance(p_value: float | None) -> str:
    """Return a probability as a person says it: 4.2 %, 1 in 12 000, 1 in 4 million."""
    if p_value is None:
        return "\N{EN DASH}"
    if p_value >= _ODDS_BELOW:
        return percent(p_value)
    if p_value < 1 / _BILLION:
        return "less than 1 in a billion"
    if p_value > 1 / _MILLION:
        return f"1 in {significant(1 / p_value, 2)}"
    return f"1 in {significant(1 / p_value / _MILLION, 2)} million"
