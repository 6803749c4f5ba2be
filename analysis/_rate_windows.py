"""Periods that are held against the rest: weeks, the later half, after a date."""

from typing import Final

import polars as pl

from analysis._exposure_spans import WEEK_NS, week_of, week_starts
from analysis._rate_clock import read, when
from analysis._rate_series import Series

#: Columns of a window: what happened in it is held against all else of its series.
WINDOW: Final = ("series", "comparison", "part", "from_ns", "to_ns")


def weeks(found: Series) -> pl.DataFrame:
    """Return each week of a series that was observed in more than one.

    Args:
        found: The series.
    """
    starts = found.spans.select("series", from_ns=week_starts()).explode("from_ns")
    several = starts.unique().filter(pl.len().over("series") > 1)
    return several.select(
        "series",
        comparison=pl.lit("week"),
        part=week_of(pl.col("from_ns")),
        from_ns="from_ns",
        to_ns=pl.col("from_ns") + WEEK_NS,
    ).select(WINDOW)


def halves(found: Series, clocks: pl.DataFrame) -> pl.DataFrame:
    """Return the later half of each series: from when half of its time had passed.

    Args:
        found: The series.
        clocks: Their clocks.
    """
    total = clocks.group_by("series").agg(wanted_ns=pl.col("passed_ns").max() // 2)
    middles = when(clocks, total).rename({"at_ns": "from_ns"})
    told = middles.join(_ends(found.spans), on="series")
    return told.select(
        "series",
        comparison=pl.lit("half"),
        part=pl.lit("later half"),
        from_ns="from_ns",
        to_ns="last_ns",
    ).select(WINDOW)


def since(found: Series, at_ns: int) -> pl.DataFrame:
    """Return what of each series comes after an instant.

    Args:
        found: The series.
        at_ns: The instant. [ns]
    """
    instant = pl.lit(at_ns, pl.Int64)
    day = pl.from_epoch(instant, time_unit="ns").dt.strftime("%Y-%m-%d")
    return _ends(found.spans).select(
        "series",
        comparison=pl.lit("date"),
        part=day,
        from_ns=instant,
        to_ns=pl.max_horizontal("last_ns", instant),
    )


def exposed(windows: pl.DataFrame, clocks: pl.DataFrame) -> pl.DataFrame:
    """Add `after_time_ns`, observed in a window, and `before_time_ns`, beside it.

    Args:
        windows: Columns of WINDOW.
        clocks: The clocks of the series.
    """
    total = clocks.group_by("series").agg(total_ns=pl.col("passed_ns").max())
    opened = read(clocks, windows, "from_ns").rename({"passed_ns": "opened_ns"})
    closed = read(clocks, opened, "to_ns")
    after = pl.col("passed_ns") - pl.col("opened_ns")
    return (
        closed.join(total, on="series")
        .with_columns(after_time_ns=after, before_time_ns=pl.col("total_ns") - after)
        .drop("passed_ns", "opened_ns", "total_ns")
    )


def _ends(spans: pl.DataFrame) -> pl.DataFrame:
    return spans.group_by("series").agg(last_ns=pl.col("end_ns").max())
