"""Exact arithmetic on intervals of integer time, over any number of groups at once.

An interval is half open, [start, end): two that touch share nothing, and one without
length covers nothing. Times are whole nanoseconds, and so is every result. [ns]
"""

from collections.abc import Sequence
from typing import Final

import polars as pl

#: Names of an interval's bounds, unless told otherwise.
START: Final = "start_ns"
END: Final = "end_ns"


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


def union_length(
    intervals: pl.LazyFrame, by: Sequence[str], start: str = START, end: str = END
) -> pl.LazyFrame:
    """Return `length_ns` for each group: how much its intervals cover. [ns]"""
    return intervals.group_by(by).agg(length_ns=union_ns(start, end))


def intersection_length(
    first: pl.LazyFrame, second: pl.LazyFrame, by: Sequence[str]
) -> pl.LazyFrame:
    """Return `length_ns` for each group: what both cover, |A| + |B| - |A or B|. [ns]"""
    both = _side_by_side(first, second, by)
    lengths = both.group_by(by).agg(
        first=union_ns(where=pl.col("is_first")),
        second=union_ns(where=~pl.col("is_first")),
        together=union_ns(),
    )
    common = pl.col("first") + pl.col("second") - pl.col("together")
    return lengths.select(*by, length_ns=common)


def difference_length(
    first: pl.LazyFrame, second: pl.LazyFrame, by: Sequence[str]
) -> pl.LazyFrame:
    """Return `length_ns` for each group: what only the first cover. [ns]"""
    both = _side_by_side(first, second, by)
    lengths = both.group_by(by).agg(
        second=union_ns(where=~pl.col("is_first")), together=union_ns()
    )
    return lengths.select(*by, length_ns=pl.col("together") - pl.col("second"))


def _side_by_side(
    first: pl.LazyFrame, second: pl.LazyFrame, by: Sequence[str]
) -> pl.LazyFrame:
    columns = [*by, START, END]
    return pl.concat(
        [
            first.select(*columns, is_first=pl.lit(value=True)),
            second.select(*columns, is_first=pl.lit(value=False)),
        ]
    )
