"""When a slow thing was slow: in spells of its own, or for the whole run."""

from typing import Final

import numpy as np
import polars as pl

from analysis._straggler_limits import Limits
from analysis._straggler_stretches import WINDOW_BLOCKS, Edges, with_stretches
from analysis.robust import robust_sd

#: Error of a median over that of a mean. [1]
#: Source: its asymptotic variance for normal values, Laplace, 1818.
MEDIAN_ERROR: Final = float(np.sqrt(np.pi / 2))

#: Blocks that a spell at an edge has at least: three steps of ten, whose median forgets
#: a single wild one.
LEAST_SHARE: Final = 0.3

#: Slowdown of the slowest block over that of all of a spell at an edge, as logarithms,
#: from which the other began before the spell: one that half is in it makes it 1.33.
MIXED_FROM: Final = 1.15

_OF_THING: Final = ("thing", "run_id", "scope", "scope_id", "gate")

_BOUNDS: Final = (
    pl.col("place").min().alias("place_from"),
    pl.col("place").max().alias("place_to"),
    pl.col("place_before").first().alias("before_first"),
    pl.col("place_after").first().alias("after_first"),
    pl.col("place_before").last().alias("before_last"),
    pl.col("place_after").last().alias("after_last"),
    pl.col("moment_first").min().alias("moment_from"),
    pl.col("moment_last").max().alias("moment_to"),
)


def find_spells(
    blocks: pl.DataFrame,
    judged: pl.DataFrame,
    limits: Limits,
    edges: Edges | None = None,
) -> pl.DataFrame:
    """Return what is slow, with the bounds of its spells.

    A thing has a spell where it differs from itself: the median of its blocks in the
    spell must be beyond the gate, and over their median outside of all its spells by
    more than the gate, beyond what blocks scatter. A spell is picked from all places
    where one can begin and end, and they are all counted (Bonferroni). A thing without
    such a spell is slow for the whole run if the test of that says so, or not at all.

    Args:
        blocks: Blocks of things.
        judged: What the test of the whole run says of each thing.
        limits: What counts as slow.
        edges: Places of the first and the last block, where the run goes on beyond:
            a spell that touches one may then have fewer blocks.

    Returns:
        One row per spell, numbered by `spell`, with its thing as in `judged`,
        `slowdown` (of its blocks), `q_value` (of the test that decided), `is_whole`,
        `level` and `rest` (logarithms in and outside of it), its bounds by blocks
        (`place_from`, `place_to`, `moment_from`, `moment_to`) and the places that are
        a window away from its first and last block. [1]
    """
    marked = with_stretches(blocks, judged, edges)
    stretches = _contrasted(marked, limits.block_steps)
    spells = _kept(_tested(stretches, judged, limits), limits)
    others = judged.filter("is_slow").join(spells, on="thing", how="anti")
    bounds = marked.group_by("thing", maintain_order=True).agg(*_BOUNDS)
    whole = others.join(bounds, on="thing").with_columns(
        level=pl.col("median"), rest=pl.lit(0.0), is_whole=pl.lit(value=True)
    )
    columns = [*_OF_THING, "slowdown", "q_value", "level", "rest", "is_whole"]
    columns += [bound.meta.output_name() for bound in _BOUNDS]
    found = pl.concat([spells.select(columns), whole.select(columns)])
    return found.sort("thing", "place_from").with_row_index("spell")


def _contrasted(marked: pl.DataFrame, block_steps: int) -> pl.DataFrame:
    """Return each stretch with its median, that of the rest, and the thing's scatter.

    Returns:
        `thing`, `level`, `rest` and `own_sd`, as logarithms, `blocks_in`, `blocks_out`,
        `share` (blocks of it by their steps), `is_long` (whether it may be a spell by
        itself) and the bounds of the stretch. Of a short one, a block that is cut off
        counts by its steps, and one that began before it not at all. [1]
    """
    steps = pl.col("moment_last") - pl.col("moment_first") + 1
    share = (steps / block_steps).clip(0, 1)
    is_long = pl.len() >= WINDOW_BLOCKS
    log = pl.col("log")
    is_mixed = ~is_long & (log.max() > MIXED_FROM * log.median())
    own = log - log.median().over("thing", "stretch")
    things = marked.with_columns(own=own).group_by("thing")
    outside = log.filter(pl.col("stretch").is_null())
    rest = things.agg(
        rest=outside.median(),
        blocks_out=outside.len().cast(pl.Int64),
        own_sd=robust_sd(pl.col("own")),
    )
    stretches = marked.filter(pl.col("stretch").is_not_null())
    found = stretches.group_by("thing", "stretch", maintain_order=True).agg(
        *_BOUNDS,
        level=pl.when(is_mixed).then(log.max()).otherwise(log.median()),
        blocks_in=pl.when(is_long)
        .then(pl.len().cast(pl.Float64))
        .when(is_mixed)
        .then(share.sort_by("log").last())
        .otherwise(share.sum()),
        share=share.sum(),
        is_long=is_long,
    )
    return found.join(rest, on="thing")


def _tested(
    stretches: pl.DataFrame, judged: pl.DataFrame, limits: Limits
) -> pl.DataFrame:
    """Return the stretches beyond the gate, and which differ from the rest."""
    places = pl.col("blocks").pow(2).sum().over("run_id")
    whole = pl.col("q_value").alias("whole_q")
    told = judged.with_columns(whole, places=places).drop("slowdown", "q_value")
    found = told.join(stretches, on="thing").with_columns(
        slowdown=pl.col("level").exp()
    )
    is_beyond = pl.col("slowdown") >= pl.col("gate")
    is_enough = pl.col("is_long") | (pl.col("share") >= LEAST_SHARE)
    beyond = found.filter(is_beyond & is_enough)
    chance = beyond.with_columns(chance=_chance(beyond))
    q_value = (pl.col("chance") * pl.col("places")).clip(0, 1)
    is_told = pl.col("blocks_out") >= WINDOW_BLOCKS
    tested = chance.with_columns(q_value=q_value, is_whole=pl.lit(value=False))
    stands = is_told & (pl.col("q_value") < limits.false_share)
    return tested.with_columns(stands=stands.fill_null(value=False))


def _kept(tested: pl.DataFrame, limits: Limits) -> pl.DataFrame:
    """Keep what differs from the rest; of what is slow anyway, all that is beyond it.

    A thing that is slow on the whole, and in one spell more, was slow in the others,
    too: the test of the whole run says so. A short one at an edge does not tell that.
    """
    has_spell = (pl.col("stands") & pl.col("is_long")).any().over("thing")
    is_spell = pl.col("stands") & ~pl.col("is_slow")
    kept = tested.filter(is_spell | (pl.col("is_slow") & has_spell))
    q_value = pl.when("stands").then("q_value").otherwise("whole_q")
    return kept.with_columns(q_value=q_value.clip(0, limits.false_share))


def _chance(found: pl.DataFrame) -> pl.Series:
    """Return the chance of so large a change where the true one is the gate. [1]

    A two-sample t-test of medians. The scatter is that of the kind, or the thing's own
    about all medians where that is larger.
    """
    from scipy.stats import t

    own_sd = pl.col("own_sd") * pl.col("widening")
    scatter = pl.max_horizontal("block_sd", own_sd, float(np.finfo(np.float64).eps))
    both = (1 / pl.col("blocks_in") + 1 / pl.col("blocks_out")).sqrt()
    change = pl.col("level") - pl.col("rest") - pl.col("gate").log()
    scores = found.select(change / (scatter * both * MEDIAN_ERROR)).to_series()
    free = found["blocks"].to_numpy() - 2
    return pl.Series(t.sf(scores.to_numpy(), free), dtype=pl.Float64)
