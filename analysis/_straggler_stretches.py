"""Where a thing may have a spell: stretches of blocks above a level."""

from typing import Final

import polars as pl

#: Blocks of the running median that finds spells: 30 steps. A single wild block then
#: neither begins a spell nor ends one. A spell, and what is left of the run, has no
#: less: with fewer there is no median to compare.
WINDOW_BLOCKS: Final = 3

#: Part of its slowdown that dates the spell of a thing that is slow on the whole: where
#: the change from normal to slow is steepest.
EDGE: Final = 0.5


def spell_of_each(blocks: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """Return the one spell that each thing may have.

    Of what is slow on the whole it goes from its first stretch above half its slowdown
    to its last; of what is not, it is the stretch above the gate that weighs most.

    Args:
        blocks: Blocks of things.
        judged: What the test of the whole run says of each thing.

    Returns:
        Columns `thing`, `place_from`, `place_to`, `first_step` and `last_step`.
    """
    stretches = _stretches(_smoothed(blocks, judged))
    told = stretches.join(judged.select("thing", "is_slow"), on="thing")
    hull = (
        told.filter("is_slow")
        .group_by("thing")
        .agg(
            pl.col("place_from", "first_step").min(),
            pl.col("place_to", "last_step").max(),
        )
    )
    order = ["thing", "weight", "place_from"]
    weighed = told.filter(~pl.col("is_slow")).sort(
        order, descending=[False, True, False]
    )
    heaviest = weighed.unique("thing", keep="first", maintain_order=True)
    return pl.concat([hull, heaviest.select(hull.columns)])


def _smoothed(blocks: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """Return where the running median of each thing is above what makes a spell."""
    level = pl.when("is_slow").then(pl.col("median") * EDGE)
    told = judged.select("thing", level=level.otherwise(pl.col("gate").log()))
    ordered = blocks.join(told, on="thing").sort("thing", "place")
    log = pl.col("ratio").log()
    running = log.rolling_median(WINDOW_BLOCKS, min_samples=1, center=True)
    return ordered.with_columns(
        log=log, is_above=running.over("thing") >= pl.col("level")
    )


def _stretches(smoothed: pl.DataFrame) -> pl.DataFrame:
    """Return each stretch of blocks above the level that is long enough, in order."""
    run = pl.struct("thing", "is_above").rle_id()
    above = smoothed.with_columns(run=run).filter("is_above")
    return (
        above.group_by("thing", "run", maintain_order=True)
        .agg(pl.len(), *bounds(), weight=pl.col("log").sum())
        .filter(pl.col("len") >= WINDOW_BLOCKS)
    )


def bounds() -> tuple[pl.Expr, ...]:
    """Return aggregations: where blocks begin and end, by place and by step."""
    return (
        pl.col("place").min().alias("place_from"),
        pl.col("place").max().alias("place_to"),
        pl.col("first_step").min(),
        pl.col("last_step").max(),
    )
