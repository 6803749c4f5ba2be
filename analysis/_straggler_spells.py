"""When a slow thing was slow: in a spell of its own, or for the whole run."""

from typing import Final

import numpy as np
import polars as pl

from analysis._straggler_limits import Limits
from analysis._straggler_stretches import WINDOW_BLOCKS, bounds, spell_of_each
from analysis.robust import robust_sd

#: Error of a median over that of a mean. [1]
#: Source: its asymptotic variance for normal values, Laplace, 1818.
MEDIAN_ERROR: Final = float(np.sqrt(np.pi / 2))


def find_spells(
    blocks: pl.DataFrame, judged: pl.DataFrame, limits: Limits
) -> pl.DataFrame:
    """Return what is slow, with the bounds of its spell.

    A thing has a spell where it differs from itself: the median of its blocks in the
    spell must be beyond the gate, and over their median in the rest of the run by more
    than the gate, beyond what blocks scatter. The spell is picked from all places where
    one can begin and end, and they are all counted (Bonferroni). A thing without such a
    spell is slow for the whole run if the test of that says so, or not at all.

    Args:
        blocks: Blocks of things.
        judged: What the test of the whole run says of each thing.
        limits: What counts as slow.

    Returns:
        The slow things as in `judged`, with `slowdown` (of the spell) and `q_value` (of
        the test that decided), and the bounds of the spell: `first_step`, `last_step`,
        `place_from` and `place_to`.
    """
    candidates = spell_of_each(blocks, judged)
    spells = _standing(_contrasted(blocks, candidates), judged, limits)
    others = judged.filter("is_slow").join(spells, on="thing", how="anti")
    whole = others.join(blocks.group_by("thing").agg(*bounds()), on="thing")
    return pl.concat([spells.select(whole.columns), whole]).sort("thing")


def _contrasted(blocks: pl.DataFrame, candidates: pl.DataFrame) -> pl.DataFrame:
    """Add to each spell its median, that of the rest, and how its thing scatters."""
    places = candidates.select("thing", "place_from", "place_to")
    is_in = pl.col("place").is_between(pl.col("place_from"), pl.col("place_to"))
    log = pl.col("ratio").log()
    sides = blocks.join(places, on="thing").with_columns(is_in=is_in, log=log)
    own = pl.col("log") - pl.col("log").median().over("thing", "is_in")
    inside = pl.col("log").filter("is_in")
    outside = pl.col("log").filter(~pl.col("is_in"))
    medians = sides.with_columns(own=own).group_by("thing")
    found = medians.agg(
        median=inside.median(),
        rest=outside.median(),
        blocks_in=inside.len().cast(pl.Int64),
        blocks_out=outside.len().cast(pl.Int64),
        own_sd=robust_sd(pl.col("own")),
    )
    return candidates.join(found, on="thing")


def _standing(
    spells: pl.DataFrame, judged: pl.DataFrame, limits: Limits
) -> pl.DataFrame:
    """Return the spells that are beyond the gate, from peers and from the rest."""
    places = pl.col("blocks").pow(2).sum().over("run_id")
    told = judged.with_columns(places=places).drop("median", "slowdown", "q_value")
    found = told.join(spells, on="thing").with_columns(slowdown=pl.col("median").exp())
    is_long = pl.min_horizontal("blocks_in", "blocks_out") >= WINDOW_BLOCKS
    found = found.filter(is_long & (pl.col("slowdown") >= pl.col("gate")))
    chance = found.with_columns(chance=_chance(found))
    tested = chance.with_columns(
        q_value=(pl.col("chance") * pl.col("places")).clip(0, 1)
    )
    return tested.filter(pl.col("q_value") < limits.false_share)


def _chance(found: pl.DataFrame) -> pl.Series:
    """Return the chance of so large a change where the true one is the gate. [1]

    A two-sample t-test of medians. The scatter is that of the kind, or the thing's own
    about both medians where that is larger.
    """
    from scipy.stats import t

    own_sd = pl.col("own_sd") * pl.col("widening")
    scatter = pl.max_horizontal("block_sd", own_sd, float(np.finfo(np.float64).eps))
    both = (1 / pl.col("blocks_in") + 1 / pl.col("blocks_out")).sqrt()
    change = pl.col("median") - pl.col("rest") - pl.col("gate").log()
    scores = found.select(change / (scatter * both * MEDIAN_ERROR)).to_series()
    free = found["blocks"].to_numpy() - 2
    return pl.Series(t.sf(scores.to_numpy(), free), dtype=pl.Float64)
