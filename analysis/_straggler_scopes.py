"""One name for one cause: a host whose GPUs are all slow is a slow host."""

import polars as pl

from analysis._straggler_things import parts_of


def widest_names(
    slow: pl.DataFrame, blocks: pl.DataFrame, cover: pl.DataFrame, judged: pl.DataFrame
) -> pl.DataFrame:
    """Keep a slow rack or host only where all its parts are slow, and then drop them.

    Args:
        slow: Spells of slow things, with their bounds.
        blocks: Blocks of things.
        cover: Which things each rank belongs to.
        judged: What was tested, for the gate of GPUs.
    """
    for whole in ("rack", "host"):
        parts = parts_of(cover, "gpu", whole)
        spells = slow.filter(pl.col("scope") == whole).select(
            "place_from", "place_to", whole="thing", whole_spell="spell"
        )
        kept = _with_every_part_slow(spells, parts, blocks, judged)
        fails = (pl.col("scope") == whole) & ~pl.col("spell").is_in(kept.implode())
        stands = spells.filter(pl.col("whole_spell").is_in(kept.implode()))
        dropped = [
            _within(slow, parts_of(cover, part, whole).join(stands, on="whole"))
            for part in ("gpu", "host")
            if part != whole
        ]
        is_part = pl.col("spell").is_in(pl.concat(dropped).implode())
        slow = slow.filter(~is_part & ~fails)
    return slow


def _with_every_part_slow(
    spells: pl.DataFrame,
    parts: pl.DataFrame,
    blocks: pl.DataFrame,
    judged: pl.DataFrame,
) -> pl.Series:
    """Return the spells of wholes in which each GPU is beyond the gate of GPUs."""
    during = pl.col("place").is_between(pl.col("place_from"), pl.col("place_to"))
    found = parts.join(spells, on="whole").join(
        blocks, left_on="part", right_on="thing"
    )
    gates = judged.select("gate", part="thing")
    medians = (
        found.filter(during)
        .group_by("whole_spell", "part")
        .agg(pl.col("ratio").median())
        .join(gates, on="part")
    )
    every = medians.group_by("whole_spell").agg(
        (pl.col("ratio") >= pl.col("gate")).all()
    )
    return every.filter("ratio")["whole_spell"]


def _within(slow: pl.DataFrame, parts: pl.DataFrame) -> pl.Series:
    """Return the spells of parts that are, for the most part, those of their whole."""
    both = slow.select("spell", "thing", first="place_from", last="place_to").join(
        parts, left_on="thing", right_on="part"
    )
    begins = pl.max_horizontal("first", "place_from")
    ends = pl.min_horizontal("last", "place_to")
    is_shared = 2 * (ends - begins + 1) >= pl.col("last") - pl.col("first") + 1
    return both.filter(is_shared)["spell"]
