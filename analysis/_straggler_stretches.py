"""Where a thing may have spells: stretches of blocks above a level."""

from typing import Final

import polars as pl

#: Blocks of the running median that finds spells: 30 steps. A single wild block then
#: neither begins a spell nor ends one. A spell, and what is left of the run, has no
#: less: with fewer there is no median to compare.
WINDOW_BLOCKS: Final = 3

#: Part of its slowdown that dates the spells of a thing that is slow on the whole:
#: where the change from normal to slow is steepest.
EDGE: Final = 0.5

#: Places of the first and of the last block of a part of a run.
Edges = tuple[int, int]


def with_stretches(
    blocks: pl.DataFrame, judged: pl.DataFrame, edges: Edges | None = None
) -> pl.DataFrame:
    """Say of each block of a tested thing which of its stretches it is in.

    Of what is slow on the whole, a stretch is above half its slowdown; of what is not,
    above the gate. At edges beyond which a run goes on, one may have fewer blocks.

    Args:
        blocks: Blocks of things.
        judged: What the test of the whole run says of each thing.
        edges: Places of the first and the last block, where the run goes on beyond.

    Returns:
        The blocks in order, with `log` (of the ratio), `stretch` (a number, null
        outside of every stretch that is long enough), and the bounds of the window
        about the block: `place_before` and `place_after`. [1]
    """
    above = _smoothed(blocks, judged)
    if edges is not None:
        above = above.with_columns(is_above=pl.col("is_above") | _from_edge(edges))
    numbered = above.with_columns(stretch=pl.struct("thing", "is_above").rle_id())
    is_long = pl.len().over("stretch") >= WINDOW_BLOCKS
    if edges is not None:
        is_long |= pl.col("place").is_in(edges).any().over("stretch")
    stretch = pl.when(pl.col("is_above") & is_long).then("stretch")
    return numbered.with_columns(stretch=stretch).drop("is_above", "level")


def _from_edge(edges: Edges) -> pl.Expr:
    """Return whether a block and all between it and an edge are above the level."""
    first, last = edges
    place, is_below = pl.col("place"), pl.col("log") < pl.col("level")
    before = is_below.cast(pl.Int64).cum_sum().over("thing") == 0
    after = is_below.cast(pl.Int64).cum_sum(reverse=True).over("thing") == 0
    begins = place.min().over("thing") == first
    ends = place.max().over("thing") == last
    return (before & begins) | (after & ends)


def _smoothed(blocks: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """Return where the running median of each thing is above what makes a spell."""
    level = pl.when("is_slow").then(pl.col("median") * EDGE)
    told = judged.select("thing", level=level.otherwise(pl.col("gate").log()))
    ordered = blocks.join(told, on="thing").sort("thing", "place")
    log, place = pl.col("ratio").log(), pl.col("place")
    running = log.rolling_median(WINDOW_BLOCKS, min_samples=1, center=True)
    before, after = place.shift(WINDOW_BLOCKS), place.shift(-WINDOW_BLOCKS)
    return ordered.with_columns(
        log=log,
        is_above=running.over("thing") >= pl.col("level"),
        place_before=before.fill_null(place.first()).over("thing"),
        place_after=after.fill_null(place.last()).over("thing"),
    )
