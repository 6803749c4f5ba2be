"""Exact arithmetic on intervals of integer time, over any number of groups at once.

An interval is half open, [start, end): two that touch share nothing and become one, and
one without length covers nothing. Times are whole nanoseconds, and so is every result.
Groups are told by any columns; nulls are a group like any other. [ns]
"""

from collections.abc import Sequence
from typing import Final

import polars as pl

from analysis._windows import END, START, split_by_windows

__all__ = [
    "END",
    "START",
    "difference",
    "gaps",
    "intersection",
    "lengths",
    "union",
    "union_ns",
]

#: Ends of time. No interval reaches beyond them. [ns]
_FIRST: Final = -(1 << 63)
_LAST: Final = (1 << 63) - 1


def union_ns(
    start: str = START, end: str = END, where: pl.Expr | None = None
) -> pl.Expr:
    """Return an aggregation: the length that a group's intervals cover together. [ns]

    Taken by start, an interval adds what lies beyond the furthest end before it.

    Args:
        start: Column of the starts. [ns]
        end: Column of the ends. [ns]
        where: Which rows count; all of them without it.
    """
    kept = pl.lit(value=True) if where is None else where
    starts = pl.col(start).filter(kept)
    opening = starts.sort()
    closing = pl.col(end).filter(kept).sort_by(starts)
    reached = closing.cum_max().shift(1).fill_null(opening)
    return (closing - pl.max_horizontal(opening, reached)).clip(0).sum()


def union(intervals: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    """Return what intervals cover, as intervals that do not touch.

    An interval opens a new one where it starts beyond the furthest end before it.

    Args:
        intervals: Columns of `by`, `start_ns`, `end_ns`.
        by: Columns that tell sets apart, at least one.

    Returns:
        The same columns, in order of time within each set.
    """
    columns = [*by, START, END]
    lasting = intervals.select(columns).filter(pl.col(START) < pl.col(END))
    ordered = lasting.sort(columns)
    reached = pl.col(END).cum_max().over(by)
    before = reached.shift(1).over(by)
    opens = (pl.col(START) > before).fill_null(value=True)
    marked = ordered.with_columns(reached.alias(END), _opens=opens)
    closes = pl.col("_opens").shift(-1).fill_null(value=True)
    first = pl.col(*by, START).filter(pl.col("_opens"))
    return marked.select(first, pl.col(END).filter(closes))


def gaps(intervals: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    """Return the times between a set's first start and last end that it leaves free.

    Args:
        intervals: Columns of `by`, `start_ns`, `end_ns`.
        by: Columns that tell sets apart.
    """
    return _between(union(intervals, by), by).drop_nulls(END)


def intersection(
    first: pl.LazyFrame,
    second: pl.LazyFrame,
    by: Sequence[str],
    apart: Sequence[str] = (),
) -> pl.LazyFrame:
    """Return what both cover, as intervals that do not touch.

    Args:
        first: Columns of `by` and `apart`, `start_ns`, `end_ns`.
        second: Columns of `by`, `start_ns`, `end_ns`.
        by: Columns that tell groups apart.
        apart: Columns that tell further sets of the first apart, all of which meet the
            second of their group.
    """
    sets = [*by, *apart]
    cut = split_by_windows(union(first, sets), union(second, by), by)
    return cut.select(*sets, START, END).sort(*sets, START)


def difference(
    first: pl.LazyFrame,
    second: pl.LazyFrame,
    by: Sequence[str],
    apart: Sequence[str] = (),
) -> pl.LazyFrame:
    """Return what the first cover alone, as intervals that do not touch.

    Args:
        first: Columns of `by` and `apart`, `start_ns`, `end_ns`.
        second: Columns of `by`, `start_ns`, `end_ns`.
        by: Columns that tell groups apart.
        apart: Columns that tell further sets of the first apart, from all of which the
            second of their group is taken.
    """
    sets = [*by, *apart]
    free = _complement(second, first.select(by).unique(), by)
    cut = split_by_windows(union(first, sets), free, by)
    return cut.select(*sets, START, END).sort(*sets, START)


def lengths(intervals: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    """Return `length_ns` for each set: how much its intervals cover together. [ns]"""
    return intervals.group_by(by).agg(length_ns=union_ns())


def _between(merged: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    """Return the time from each end to the start that follows, null after the last."""
    following = pl.col(START).shift(-1).over(by)
    return merged.select(*by, pl.col(END).alias(START), following.alias(END))


def _complement(
    taken: pl.LazyFrame, groups: pl.LazyFrame, by: Sequence[str]
) -> pl.LazyFrame:
    """Return all time that a group's intervals leave free, up to the ends of time."""
    first = pl.lit(_FIRST)
    opening = groups.select(*by, first.alias(START), first.alias(END))
    merged = pl.concat([union(taken, by), opening]).sort(*by, START, END)
    free = _between(merged, by).with_columns(pl.col(END).fill_null(_LAST))
    return free.filter(pl.col(START) < pl.col(END))
