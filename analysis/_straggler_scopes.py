"""One name for one cause: a host whose GPUs are all slow is a slow host."""

import polars as pl

from analysis._straggler_things import parts_of


def widest_names(
    slow: pl.DataFrame, blocks: pl.DataFrame, cover: pl.DataFrame, judged: pl.DataFrame
) -> pl.DataFrame:
    """Keep a slow rack or host only where all its parts are slow, and then drop them.

    Args:
        slow: Slow things, with the bounds of their spells.
        blocks: Blocks of things.
        cover: Which things each rank belongs to.
        judged: What was tested, for the gate of GPUs.
    """
    for whole in ("rack", "host"):
        parts = parts_of(cover, "gpu", whole)
        kept = _with_every_part_slow(slow, whole, parts, blocks, judged)
        dropped = [
            parts_of(cover, part, whole).filter(pl.col("whole").is_in(kept.implode()))[
                "part"
            ]
            for part in ("gpu", "host")
            if part != whole
        ]
        is_part = pl.col("thing").is_in(pl.concat(dropped).implode())
        fails = (pl.col("scope") == whole) & ~pl.col("thing").is_in(kept.implode())
        slow = slow.filter(~is_part & ~fails)
    return slow


def _with_every_part_slow(
    slow: pl.DataFrame,
    whole: str,
    parts: pl.DataFrame,
    blocks: pl.DataFrame,
    judged: pl.DataFrame,
) -> pl.Series:
    """Return the slow wholes in whose spell each GPU is beyond the gate of GPUs."""
    wholes = slow.filter(pl.col("scope") == whole).select(
        "place_from", "place_to", whole="thing"
    )
    during = pl.col("place").is_between(pl.col("place_from"), pl.col("place_to"))
    found = parts.join(wholes, on="whole").join(
        blocks, left_on="part", right_on="thing"
    )
    gates = judged.select("gate", part="thing")
    medians = (
        found.filter(during)
        .group_by("whole", "part")
        .agg(pl.col("ratio").median())
        .join(gates, on="part")
    )
    every = medians.group_by("whole").agg((pl.col("ratio") >= pl.col("gate")).all())
    return every.filter("ratio")["whole"]
