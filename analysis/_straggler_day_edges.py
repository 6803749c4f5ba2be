"""Spells at the edges of a day that are too short to be told by it alone."""

from typing import Final

import polars as pl

from analysis._straggler_stretches import WINDOW_BLOCKS, Edges

#: Edges of a day that a short spell may touch; none of all others.
NONE: Final = "none"
FIRST: Final = "first"
LAST: Final = "last"

#: All of them.
EDGES: Final = (NONE, FIRST, LAST)

#: Whether a spell, or what is kept of one, is of an edge.
IS_SHORT: Final = pl.col("edge").fill_null(NONE) != NONE

_STEP: Final = ("attempt", "step")


def edges_of(columns: pl.DataFrame) -> Edges | None:
    """Return the places of the first and the last block of a day.

    Args:
        columns: Blocks of the day, in order.
    """
    places = columns["place"].to_list()
    return (places[0], places[-1]) if places else None


def with_edges(spells: pl.DataFrame, columns: pl.DataFrame) -> pl.DataFrame:
    """Add `edge`: which edge of the day a spell of few blocks touches.

    Such a spell counts if the day beyond the edge has more of it.

    Args:
        spells: Spells with their bounds by blocks.
        columns: Blocks of the day, in order.
    """
    if spells.is_empty():
        return spells.with_columns(edge=pl.lit(NONE))
    places = columns["place"]
    first = places.search_sorted(spells["place_from"])
    last = places.search_sorted(spells["place_to"], side="right") - 1
    blocks = last.cast(pl.Int64) - first.cast(pl.Int64) + 1
    is_short = (blocks < WINDOW_BLOCKS) & ~spells["is_whole"]
    told = pl.DataFrame(
        {"is_short": is_short, "begins": first == 0, "ends": last == len(places) - 1}
    )
    edge = (
        pl.when(pl.col("is_short") & pl.col("begins"))
        .then(pl.lit(FIRST))
        .when(pl.col("is_short") & pl.col("ends"))
        .then(pl.lit(LAST))
        .otherwise(pl.lit(NONE))
    )
    return spells.with_columns(edge=told.select(edge).to_series())


def with_edge_costs(
    totals: pl.DataFrame, every: pl.DataFrame, losses: pl.DataFrame, slow: pl.DataFrame
) -> pl.DataFrame:
    """Add what steps cost where short spells count, too.

    Args:
        totals: Steps with their costs, short spells left as they were.
        every: The same with short spells repaired, too.
        losses: What each spell alone cost in each step.
        slow: Spells with `edge`.

    Returns:
        The steps with `edge`, `edge_lost_gpu_ns` and `edge_jitter_gpu_ns`, null in
        steps without a short spell.
    """
    short = slow.filter(IS_SHORT).select("spell", "edge")
    at = losses.select(*_STEP, "spell").join(short, on="spell")
    edges = at.group_by(_STEP).agg(pl.col("edge").max())
    told = edges.join(
        every.select(
            *_STEP,
            edge_lost_gpu_ns="lost_gpu_ns",
            edge_jitter_gpu_ns="jitter_gpu_ns",
        ),
        on=list(_STEP),
    )
    return totals.join(told, on=list(_STEP), how="left").with_columns(
        pl.col("edge").fill_null(NONE)
    )


def without_edges(totals: pl.DataFrame) -> pl.DataFrame:
    """Return the steps of a day without short spells, as `with_edge_costs` does."""
    nothing = pl.lit(None, totals.schema["lost_gpu_ns"])
    return totals.with_columns(
        edge=pl.lit(NONE), edge_lost_gpu_ns=nothing, edge_jitter_gpu_ns=nothing
    )
