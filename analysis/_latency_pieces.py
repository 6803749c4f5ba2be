"""The sizes of a series that its first line and its last are told from."""

from collections.abc import Iterator
from typing import Final

import polars as pl

#: The first line goes as far as times exceed the floor by no more than this: then a
#: fifth is bytes, and protocols have not changed. [1]
FLOOR_RATIO: Final = 1.25

#: The last line takes sizes down to this share of the largest: five of a benchmark that
#: doubles them, few enough for one protocol. [1]
LAST_SHARE: Final = 1 / 16

#: Sizes that a line has at least, where there are as many, and the factor between them.
#: With five a t quantile is 3.2, with three 12.7. [1]
LEAST_SIZES: Final = 5
LEAST_SPREAD: Final = 4

#: Sizes that a line can be told from. [1]
FEWEST_SIZES: Final = 3

#: Pairs of sizes held at once, of some 60 B each.
MOST_PAIRS: Final = 2_000_000


def with_scale(found: pl.DataFrame) -> pl.DataFrame:
    """Add the time that a point's error is a share of. [ns]

    It is the point's own, but no less than both of its neighbours: else a single time
    that is far too short would pass for one that is very sure.
    """
    time = pl.col("time")
    before, after = time.shift(1), time.shift(-1)
    both = pl.when(before.is_not_null() & after.is_not_null())
    around = both.then(pl.min_horizontal(before, after)).over("series")
    scale = pl.max_horizontal(time, around)
    return found.with_columns(noise=scale / pl.col("weight").sqrt())


def portions(found: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield whole series, as many as their pairs may be held at once."""
    pairs = found.group_by("series").agg(pairs=pl.len().cast(pl.Int64) ** 2)
    ordered = pairs.sort("series").with_columns(
        portion=pl.col("pairs").cum_sum() // MOST_PAIRS
    )
    for portion in ordered.partition_by("portion"):
        yield found.join(portion, on="series", how="semi", maintain_order="left")


def pieces(
    found: pl.DataFrame, floor_ratio: float, last_share: float
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the first sizes of each series, and the last ones."""
    size, time = pl.col("size"), pl.col("time")
    floor = time.head(FEWEST_SIZES).median().over("series")
    at_floor = pl.when(time <= floor * floor_ratio).then(size).max().over("series")
    first_few = size.head(LEAST_SIZES).max().over("series")
    largest = size.max().over("series")
    below = pl.when(size <= largest / LEAST_SPREAD).then(size).max().over("series")
    last_few = size.tail(LEAST_SIZES).min().over("series")
    from_size = pl.min_horizontal(largest * last_share, last_few, below)
    first = found.filter(size <= pl.max_horizontal(at_floor, first_few))
    last = found.filter(size >= from_size)
    named = [
        piece.with_columns(piece=pl.lit(name))
        for name, piece in (("first", first), ("last", last))
    ]
    return named[0], named[1]
