"""One sweep over time that tells which kinds of work are on at once."""

from collections.abc import Sequence

import polars as pl

from analysis._windows import number_windows
from analysis.intervals import END, START


def time_by_state(
    intervals: pl.LazyFrame,
    windows: pl.LazyFrame,
    by: Sequence[str],
    kinds: Sequence[str],
) -> pl.LazyFrame:
    """Split each window's time by the set of kinds that are on.

    The bounds of all intervals are taken in order of time, +1 where one opens and -1
    where one closes; between two neighbours the running sums say what is on. Nothing
    is rounded and nothing is left out: a window's rows add up to its length.

    Args:
        intervals: Rows with the columns of `by`, `start_ns`, `end_ns` and `kind`.
        windows: Windows that share no time within a group: the columns of `by`,
            `start_ns`, `end_ns` and whatever else is to be told of them.
        by: Columns that an interval and its windows have in common; nulls match nulls.
        kinds: Values of `kind` to tell apart; intervals of other kinds are left out.

    Returns:
        A row for each window and state that took any time: the window's columns, a
        Boolean column named after each kind, and `length_ns`. [ns]
    """
    numbered = number_windows(windows, by)
    bounds = [*_bounds(intervals, numbered, by, kinds), *_marks(numbered)]
    ordered = pl.concat(bounds, how="diagonal").sort("_group", "_time")
    inside = (pl.col("_mark") % 2 == 0) & (pl.col("_mark") > 0)
    totals = (
        _states(ordered, kinds)
        .filter(inside & (pl.col("length_ns") > 0))
        .group_by(*kinds, _window=pl.col("_mark") // 2 - 1)
        .agg(pl.col("length_ns").sum())
    )
    return numbered.drop("_group").join(totals, on="_window").drop("_window")


def _bounds(
    intervals: pl.LazyFrame,
    numbered: pl.LazyFrame,
    by: Sequence[str],
    kinds: Sequence[str],
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return where intervals open, +1 for their kind, and where they close, -1."""
    groups = numbered.select(*by, "_group").unique()
    lasting = intervals.filter(
        (pl.col(START) < pl.col(END)) & pl.col("kind").is_in(list(kinds))
    )
    found = lasting.join(groups, on=list(by), nulls_equal=True)
    on = [(pl.col("kind") == kind).cast(pl.Int32).alias(kind) for kind in kinds]
    opened = found.select("_group", pl.col(START).alias("_time"), *on)
    closed = found.select("_group", pl.col(END).alias("_time"), *[-one for one in on])
    return opened, closed


def _marks(numbered: pl.LazyFrame) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return where windows begin, with an even mark, and end, with the odd one after.

    Marks rise with time, so that at any time the greatest so far tells the window.
    """
    mark = pl.col("_window") * 2 + 2
    begun = numbered.select("_group", pl.col(START).alias("_time"), _mark=mark)
    ended = numbered.select("_group", pl.col(END).alias("_time"), _mark=mark + 1)
    return begun, ended


def _states(ordered: pl.LazyFrame, kinds: Sequence[str]) -> pl.LazyFrame:
    """Return what is on, and in which window, from each bound to the next."""
    length = pl.col("_time").shift(-1) - pl.col("_time")
    in_group = pl.col("_group") == pl.col("_group").shift(-1)
    return ordered.select(
        *[pl.col(kind).fill_null(0).cum_sum() > 0 for kind in kinds],
        _mark=pl.col("_mark").fill_null(0).cum_max(),
        length_ns=pl.when(in_group).then(length).otherwise(0),
    )


def time_alone(
    intervals: pl.LazyFrame, by: Sequence[str], who: Sequence[str]
) -> pl.LazyFrame:
    """Return how long each was on while no other was, and how long several were.

    The running sum of the numbers of all that are on is, where only one is, its number.

    Args:
        intervals: Columns of `by` and `who`, `start_ns`, `end_ns`; those of one of
            `who` share no time.
        by: Columns that tell groups apart.
        who: Columns that tell those of a group apart.

    Returns:
        Columns of `by` and `who`, and `length_ns`: a row for each that was on alone for
        any time, and one, its columns of `who` null, for several at once. [ns]
    """
    groups = intervals.select(by).unique().sort(by).with_row_index("_group")
    names = intervals.select(who).unique().sort(who).with_row_index("_name")
    found = intervals.join(groups, on=list(by), nulls_equal=True).join(
        names, on=list(who), nulls_equal=True
    )
    name = pl.col("_name").cast(pl.Int64)
    opened = found.select("_group", _time=START, _on=pl.lit(1), _sum=name)
    closed = found.select("_group", _time=END, _on=pl.lit(-1), _sum=-name)
    ordered = pl.concat([opened, closed]).sort("_group", "_time")
    count = pl.col("_on").cast(pl.Int64).cum_sum()
    states = ordered.select(
        "_group",
        length_ns=pl.col("_time").shift(-1) - pl.col("_time"),
        _on=count,
        _name=pl.when(count == 1).then(pl.col("_sum").cum_sum()),
    )
    # no one is on from the last bound of a group to the first of the next
    totals = (
        states.filter((pl.col("_on") > 0) & (pl.col("length_ns") > 0))
        .group_by("_group", pl.col("_name").cast(pl.UInt32))
        .agg(pl.col("length_ns").sum())
    )
    told = totals.join(groups, on="_group").join(names, on="_name", how="left")
    return told.select(*by, *who, "length_ns")
