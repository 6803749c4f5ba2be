"""Hosts and racks with too few peers for a test of their own, told by their GPUs.

Each GPU is tested by itself. Where all of a host are found slow at the same time, one
cause is likelier than many. They need no other yardstick than their peers' median: it
is that of GPUs elsewhere as long as most peers are, and where most are not, none of
them can be beyond it.
"""

from typing import Final

import polars as pl

from analysis._straggler_things import NAME, parts_of

#: Columns of a spell that tell its first edge, and its last.
_FIRST: Final = ("place_from", "before_first", "after_first", "moment_from")
_LAST: Final = ("place_to", "before_last", "after_last", "moment_to")


def with_joint_spells(spells: pl.DataFrame, cover: pl.DataFrame) -> pl.DataFrame:
    """Add spells of hosts and racks of which all GPUs are slow at the same time.

    The whole takes the typical edges and levels of its GPUs, and the largest of their
    q-values.

    Args:
        spells: What `find_spells` returns.
        cover: Which things each rank belongs to.

    Returns:
        The spells, numbered anew, with `parts_slow`: how many GPUs a spell was added
        for, null for those found by a test of their own. [1]
    """
    joint = [_of_wholes(spells, cover, whole) for whole in ("rack", "host")]
    found = pl.concat([spells, *joint], how="diagonal_relaxed").drop("spell")
    return found.sort("thing", "place_from").with_row_index("spell")


def _of_wholes(spells: pl.DataFrame, cover: pl.DataFrame, whole: str) -> pl.DataFrame:
    parts = parts_of(cover, "gpu", whole).with_columns(parts=pl.len().over("whole"))
    untold = parts.filter(~pl.col("whole").is_in(spells["thing"].unique().implode()))
    rows = spells.join(untold, left_on="thing", right_on="part")
    of_parts = _hulls(rows.sort("whole", "place_from", "thing"))
    by = ["whole", "together"]
    wholes = of_parts.group_by(by).agg(
        *[_middle(name, "place_from") for name in _FIRST],
        *[_middle(name, "place_to") for name in _LAST],
        pl.col("slowdown", "level", "rest").median(),
        pl.col("q_value", "gate").max(),
        pl.col("is_whole").all(),
        pl.col("parts").first(),
        parts_slow=pl.len().cast(pl.Int64),
    )
    shared = _least_share(of_parts, wholes.select(*by, *_EDGES))
    told = wholes.filter(pl.col("parts_slow") == pl.col("parts")).join(shared, on=by)
    names = cover.select(*NAME, whole="thing").unique()
    every = told.filter("is_shared").join(names, on="whole").rename({"whole": "thing"})
    return every.drop("together", "parts", "is_shared")


_EDGES: Final = ("place_from", "place_to")


def _hulls(rows: pl.DataFrame) -> pl.DataFrame:
    """Bring together spells of a whole's parts that meet, one row for each part."""
    reached = pl.col("place_to").cum_max().shift(1).over("whole")
    opens = (pl.col("place_from") > reached).fill_null(value=True)
    numbered = rows.with_columns(together=opens.cum_sum())
    return numbered.group_by("whole", "together", "thing", maintain_order=True).agg(
        pl.col(_FIRST).first(),
        pl.col(_LAST).last(),
        pl.col("slowdown", "level", "rest").median(),
        pl.col("q_value", "gate").max(),
        pl.col("is_whole").all(),
        pl.col("parts").first(),
    )


def _middle(name: str, edge: str) -> pl.Expr:
    """Return a column at the part whose edge is in the middle of all."""
    return pl.col(name).sort_by(edge, "thing").get(pl.len() // 2)


def _least_share(of_parts: pl.DataFrame, wholes: pl.DataFrame) -> pl.DataFrame:
    """Say whether every part was slow for at least half of what its whole was."""
    by = ["whole", "together"]
    both = of_parts.join(wholes, on=by, suffix="_whole")
    first = pl.max_horizontal("place_from", "place_from_whole")
    last = pl.min_horizontal("place_to", "place_to_whole")
    length = pl.col("place_to_whole") - pl.col("place_from_whole") + 1
    shared = 2 * (last - first + 1) >= length
    return both.group_by(by).agg(is_shared=shared.all())
