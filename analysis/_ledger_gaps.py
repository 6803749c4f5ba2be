"""Gaps in the compute of a device, and what each of them waited for."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from analysis._windows import split_by_windows
from analysis.intervals import END, START

#: Profilers that count microseconds round starts and lengths: a collective may seem to
#: end so much after the work that waited for it began. [ns]
ROUNDING_NS: Final = 1_000


def gaps_of(
    work: pl.LazyFrame, windows: pl.LazyFrame, by: Sequence[str]
) -> pl.LazyFrame:
    """Return the gaps that the work of each group leaves between its windows' bounds.

    Args:
        work: Intervals of work: the columns of `by`, start_ns and end_ns.
        windows: Windows of each group, of any number.
        by: Columns that tell one group from another.

    Returns:
        Columns of `by`, start_ns and end_ns, when work goes on; none without length.
    """
    bounds = (pl.col(START).min(), pl.col(END).max())
    spans = windows.group_by(by).agg(bounds)
    marks = [
        spans.select(*by, pl.col(edge).alias(START), pl.col(edge).alias(END))
        for edge in (START, END)
    ]
    inside = work.join(spans.select(by), on=list(by), how="semi", nulls_equal=True)
    rows = pl.concat([inside.select(*by, START, END), *marks]).sort(*by, START, END)
    same = pl.all_horizontal(pl.col(one).eq_missing(pl.col(one).shift(1)) for one in by)
    reached = pl.col(END).cum_max().shift(1).over(by)
    between = rows.select(
        *by, pl.when(same).then(reached).alias(START), pl.col(START).alias(END)
    )
    return between.filter(pl.col(START) < pl.col(END))


def blocked_by(
    waits: pl.LazyFrame, gaps: pl.LazyFrame, by: Sequence[str]
) -> pl.LazyFrame:
    """Say which part of each gap was spent waiting, and in which communication.

    At any time the communication counts that ends last before work goes on: the others
    had to wait for it, too, and what is waited for beside its transfer costs nothing
    more. One that still runs when work goes on held nothing up, and counts only where
    there is no other.

    Args:
        waits: Communication: the columns of `by`, start_ns, end_ns, until_ns (when its
            wait ended: start_ns where none is known) and whatever else.
        gaps: What `gaps_of` returns.
        by: Columns that tell one group from another.

    Returns:
        Rows of `waits` that held something up, start_ns and end_ns bounding the wait of
        each in one gap. They share no time. [ns]
    """
    pieces = split_by_windows(waits.with_columns(left_ns=END), gaps, by)
    gap = [*by, "window_start_ns"]
    is_open = pl.col("left_ns") > pl.col("window_end_ns") + ROUNDING_NS
    left = pl.min_horizontal("left_ns", "window_end_ns")
    ordered = (
        pieces.with_columns(is_open=is_open, left_ns=left)
        .sort(
            *[*gap, "is_open", "left_ns", "until_ns", START],
            descending=[*[False] * (len(gap) + 1), True, True, False],
            maintain_order=True,
        )
        .with_columns(taken=pl.col(START).cum_min().shift(1).over(gap))
    )
    end = pl.min_horizontal(END, "taken", "until_ns")
    held = ordered.with_columns(end.alias(END)).filter(pl.col(START) < pl.col(END))
    added = ("left_ns", "is_open", "taken", "window_start_ns", "window_end_ns")
    return held.drop(added)
