"""Which samples were read more than once, and which not at all: sorted neighbours.

Samples are whole numbers, and reads half-open ranges of them. Sorted by their first
sample, a read repeats what lies before the furthest end so far, and leaves out what
lies between that end and its start.
"""

from collections.abc import Sequence
from typing import Final

import polars as pl

#: A pass over a data set.
PASS: Final = ("run_id", "dataset", "epoch")


def swept(
    ranges: pl.DataFrame, by: Sequence[str], holder: Sequence[str]
) -> pl.DataFrame:
    """Return ranges in order, each beside the one that reached furthest before it.

    Args:
        ranges: Columns of `by` and `holder`, first and after.
        by: Columns that tell sets of samples apart.
        holder: Columns that tell who read a range.

    Returns:
        The ranges with reach, null for the first of a set, and `other_` columns: who
        of those before it reached there.
    """
    walked = _with_reach(ranges.sort(*by, "first", "after", *holder), by)
    leads = (pl.col("after") > pl.col("reach")).fill_null(value=True)
    row = pl.int_range(pl.len())
    leader = pl.when(leads).then(row).forward_fill().shift(1).fill_null(0)
    others = [
        pl.when(pl.col("reach").is_not_null())
        .then(pl.col(name).gather(leader))
        .name.prefix("other_")
        for name in holder
    ]
    return walked.with_columns(others).drop("_set")


def _with_reach(ordered: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Add the furthest end before each range of a set.

    Where no two share a sample, that is the end of the one before.
    """
    opens = pl.any_horizontal(pl.col(n).ne_missing(pl.col(n).shift(1)) for n in by)
    opens = opens | (pl.int_range(pl.len()) == 0)
    numbered = ordered.with_columns(
        _set=opens.cum_sum(), reach=pl.col("after").shift(1)
    )
    is_same = pl.col("_set") == pl.col("_set").shift(1)
    near = numbered.with_columns(reach=pl.when(is_same).then("reach"))
    if near.select((pl.col("first") >= pl.col("reach")).all()).item():
        return near
    return near.with_columns(reach=pl.col("after").cum_max().shift(1).over("_set"))


def merged(ranges: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Return what ranges cover, as ranges that do not touch.

    Args:
        ranges: Columns of `by`, first and after.
        by: Columns that tell sets of samples apart.
    """
    columns = [*by, "first", "after"]
    walked = _with_reach(ranges.select(columns).sort(columns), by)
    opens = (pl.col("first") > pl.col("reach")).fill_null(value=True)
    reached = pl.max_horizontal("after", "reach")
    closes = opens.shift(-1).fill_null(value=True)
    marked = walked.with_columns(after=reached, _opens=opens, _closes=closes)
    return marked.select(
        pl.col(*by, "first").filter(pl.col("_opens")),
        pl.col("after").filter(pl.col("_closes")),
    )


def repeats(walked: pl.DataFrame) -> pl.DataFrame:
    """Return what swept ranges cover again: first and after are those samples."""
    again = walked.filter(pl.col("first") < pl.col("reach"))
    return again.with_columns(after=pl.min_horizontal("after", "reach")).drop("reach")


def holes(walked: pl.DataFrame) -> pl.DataFrame:
    """Return what swept ranges leave out: first and after are those samples."""
    beyond = walked.filter(pl.col("first") > pl.col("reach"))
    return beyond.with_columns(first="reach", after="first").drop("reach")


def rereads(walked: pl.DataFrame, by: Sequence[str], order: str) -> pl.DataFrame:
    """Return what is read again, beside who read it last before.

    Ranges that share samples are cut where any of them starts or ends: then two pieces
    are the same or share nothing, and all but the first in order are read again.

    Args:
        walked: What `swept` returns.
        by: Columns that tell sets of samples apart.
        order: Column that tells which of two reads came first.

    Returns:
        Columns of walked without reach: first and after of the pieces, and `other_`
        columns of the read before.
    """
    others = [name for name in walked.columns if name.startswith("other_")]
    holders = [name.removeprefix("other_") for name in others]
    block = (pl.col("first") >= pl.col("reach")).fill_null(value=True).cum_sum()
    numbered = walked.with_columns(_block=block).drop(others, "reach")
    shared = numbered.filter(pl.len().over("_block") > 1)
    pieces = _cut(shared).sort("_block", "first", order)
    piece = ["_block", "first"]
    before = [pl.col(n).shift(1).over(piece).name.prefix("other_") for n in holders]
    nth = pl.int_range(pl.len()).over(piece)
    told = pieces.with_columns(*before, _nth=nth).filter(pl.col("_nth") > 0)
    return told.select(*by, *holders, "first", "after", *others)


def _cut(shared: pl.DataFrame) -> pl.DataFrame:
    """Cut ranges of a block at every end of another."""
    ends = pl.concat(
        [shared.select("_block", at=end) for end in ("first", "after")]
    ).unique()
    edges = ends.sort("_block", "at").with_columns(_edge=pl.int_range(pl.len()))
    starts = edges.rename({"at": "first", "_edge": "_from"})
    stops = edges.rename({"at": "after", "_edge": "_to"})
    both = shared.join(starts, on=["_block", "first"]).join(
        stops, on=["_block", "after"]
    )
    spread = both.drop("first", "after").with_columns(
        _edge=pl.int_ranges("_from", "_to")
    )
    pieces = spread.explode("_edge").drop("_from", "_to")
    bounds = edges.select("_edge", first="at", after=pl.col("at").shift(-1))
    return pieces.join(bounds, on="_edge")
