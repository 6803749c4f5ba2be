"""When a slow thing was slow, and things that were slow only for a while."""

from typing import Final

import numpy as np
import polars as pl

from analysis._straggler_limits import Limits

#: Blocks of the running median that finds spells: 30 steps. A single wild block then
#: neither begins a spell nor ends one.
WINDOW_BLOCKS: Final = 3

#: Part of its slowdown that dates the spell of a thing that is slow on the whole: where
#: the change from normal to slow is steepest.
EDGE: Final = 0.5


def find_spells(
    blocks: pl.DataFrame, judged: pl.DataFrame, limits: Limits
) -> pl.DataFrame:
    """Return what is slow, with the bounds of its spell.

    A thing that is slow on the whole is dated by where it crosses half its slowdown.
    Another may be slow for a while: where the running median of its blocks stays above
    the gate. That counts if the mean of the spell is beyond what blocks scatter, all
    places where a spell can begin and end taken together (Bonferroni). Of several
    spells the one that weighs most is told.

    Args:
        blocks: Blocks of things.
        judged: What the test of the whole run says of each thing.
        limits: What counts as slow.

    Returns:
        The slow things as in `judged`, with `q_value` and the bounds of the spell:
        `first_step`, `last_step`, `place_from` and `place_to`.
    """
    runs = _runs_above(_smoothed(blocks, judged))
    whole = runs.group_by("thing", maintain_order=True).agg(
        pl.col("place_from", "first_step").first(),
        pl.col("place_to", "last_step").last(),
    )
    order = ["thing", "weight", "place_from"]
    weighed = runs.sort(order, descending=[False, True, False])
    heaviest = weighed.unique("thing", keep="first")
    told = pl.concat(
        [
            judged.filter("is_slow").join(whole, on="thing"),
            _for_a_while(judged, heaviest, limits),
        ],
        how="diagonal",
    )
    return told.sort("thing")


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


def _runs_above(smoothed: pl.DataFrame) -> pl.DataFrame:
    """Return each stretch of blocks above the level, in order."""
    run = pl.struct("thing", "is_above").rle_id()
    above = smoothed.with_columns(run=run).filter("is_above")
    return above.group_by("thing", "run", maintain_order=True).agg(
        blocks_in=pl.len().cast(pl.Int64),
        mean=pl.col("log").mean(),
        weight=pl.col("log").sum(),
        place_from=pl.col("place").first(),
        place_to=pl.col("place").last(),
        first_step=pl.col("first_step").first(),
        last_step=pl.col("last_step").last(),
    )


def _for_a_while(
    judged: pl.DataFrame, spells: pl.DataFrame, limits: Limits
) -> pl.DataFrame:
    from scipy.stats import norm

    places = pl.col("blocks").pow(2).sum().over("run_id")
    others = judged.with_columns(places=places).filter(~pl.col("is_slow"))
    found = others.drop("mean").join(spells, on="thing")
    scatter = pl.max_horizontal("block_sd", "own_sd", float(np.finfo(np.float64).eps))
    beyond = pl.col("mean") - np.log(limits.null_ratio)
    scores = found.select(beyond * pl.col("blocks_in").sqrt() / scatter).to_series()
    chance = pl.Series(norm.sf(scores.to_numpy()), dtype=pl.Float64)
    told = found.with_columns(
        q_value=(chance * pl.col("places")).clip(0, 1),
        slowdown=pl.col("mean").exp(),
    )
    long_enough = pl.col("blocks_in") >= WINDOW_BLOCKS
    return told.filter(long_enough & (pl.col("q_value") < limits.false_share))
