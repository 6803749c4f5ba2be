"""Rows and intervals brought together with windows of time."""

from collections.abc import Sequence
from typing import Final

import polars as pl

#: Names of an interval's bounds. [ns]
START: Final = "start_ns"
END: Final = "end_ns"


def place_in_windows(
    rows: pl.LazyFrame, windows: pl.LazyFrame, by: Sequence[str], time: str = START
) -> pl.LazyFrame:
    """Give each row the window of its group that its time falls into.

    Args:
        rows: Rows with the columns of `by` and a time.
        windows: Windows that share no time within a group: the columns of `by`,
            `start_ns`, `end_ns` and whatever else is to be told of them.
        by: Columns that a row and its window have in common; nulls match nulls.
        time: Column of the rows to place them by. [ns]

    Returns:
        All rows, with `window_start_ns`, `window_end_ns` and the other columns of the
        window, null in rows outside every window.
    """
    numbered = number_windows(windows, by)
    found = _last_window(_grouped(rows, numbered, by), numbered, time, "_window")
    told = _told(numbered, by)
    placed = found.join(told, on="_window", how="left").drop("_window", "_group")
    inside = pl.col(time) < pl.col("window_end_ns")
    names = [name for name in told.collect_schema().names() if name != "_window"]
    return placed.with_columns(pl.when(inside).then(pl.col(names)))


def split_by_windows(
    intervals: pl.LazyFrame, windows: pl.LazyFrame, by: Sequence[str]
) -> pl.LazyFrame:
    """Cut intervals at the bounds of their group's windows.

    Args:
        intervals: Rows with the columns of `by`, `start_ns` and `end_ns`.
        windows: As for `place_in_windows`.
        by: Columns that an interval and its windows have in common.

    Returns:
        A row for each interval and window that share time, its bounds clipped to the
        window, with the window's columns as in `place_in_windows`. Time outside every
        window is left out; an interval without length stays in the window it is in.
    """
    numbered = number_windows(windows, by)
    grouped = _grouped(intervals, numbered, by)
    first = _last_window(grouped, numbered, START, "_first")
    both = _last_window(first, numbered, END, "_last", exact=False)
    begin = pl.coalesce("_first", "_group")
    until = pl.max_horizontal("_first", "_last")
    pieces = (
        both.filter(until.is_not_null())
        .with_columns(_window=pl.int_ranges(begin, until + 1))
        .explode("_window")
        .join(_told(numbered, by), on="_window")
    )
    return _clip(pieces).drop("_first", "_last", "_window", "_group")


def number_windows(windows: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    """Number windows in order; a group's code is the number of its first window."""
    ordered = windows.sort(*by, START, END, maintain_order=True)
    number = pl.col("_window").cast(pl.Int64)
    numbered = ordered.with_row_index("_window")
    return numbered.with_columns(number, _group=number.min().over(by))


def _grouped(
    rows: pl.LazyFrame, numbered: pl.LazyFrame, by: Sequence[str]
) -> pl.LazyFrame:
    groups = numbered.select(*by, "_group").unique()
    return rows.join(groups, on=list(by), how="left", nulls_equal=True)


def _last_window(
    rows: pl.LazyFrame,
    numbered: pl.LazyFrame,
    time: str,
    name: str,
    *,
    exact: bool = True,
) -> pl.LazyFrame:
    """Number the last window of the group that has begun by a time."""
    begun = numbered.select("_group", pl.col("_window").alias(name), _begun_ns=START)
    joined = rows.sort(time).join_asof(
        begun.sort("_begun_ns", name),
        left_on=time,
        right_on="_begun_ns",
        by="_group",
        strategy="backward",
        allow_exact_matches=exact,
        check_sortedness=False,
    )
    return joined.drop("_begun_ns")


def _told(numbered: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    bounds = {START: "window_start_ns", END: "window_end_ns"}
    return numbered.drop("_group", *by).rename(bounds)


def _clip(pieces: pl.LazyFrame) -> pl.LazyFrame:
    start = pl.max_horizontal(START, "window_start_ns")
    end = pl.min_horizontal(END, "window_end_ns")
    is_point = (pl.col(START) == pl.col(END)) & (start < pl.col("window_end_ns"))
    kept = pieces.filter((start < end) | (is_point & (start == end)))
    return kept.with_columns(start.alias(START), end.alias(END))
