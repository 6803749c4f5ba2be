"""Dumps that were not taken at the moment of the others."""

from typing import Final

import polars as pl

from analysis._hang_dumps import HANG, RANK
from analysis._hang_members import GROUP
from analysis._hang_progress import Progress

#: Share of dumps of another moment from which on none of them shows a hang: ranks of a
#: job that runs were asked one after the other.
MOST_ELSEWHEN: Final = 0.25


def mark_moments(dumps: pl.DataFrame, progress: Progress) -> pl.DataFrame:
    """Add `is_elsewhen` to dumps: whether a rank went on after its dump was taken.

    No rank finishes a collective that another has not entered. Where one did, the
    other's dump is older: what it says of that rank is over.

    Args:
        dumps: Rows of `dumps_of`.
        progress: How far ranks got.
    """
    counts = _with_ends(progress)
    older = counts.filter(pl.col("entered") < pl.col("ended")).select(RANK).unique()
    marked = older.with_columns(is_elsewhen=pl.lit(value=True))
    rows = dumps.join(marked, on=RANK, how="left", maintain_order="left")
    return rows.with_columns(pl.col("is_elsewhen").fill_null(value=False))


def shares_a_moment() -> pl.Expr:
    """Return whether enough dumps of a hang are of one moment."""
    return pl.col("is_elsewhen").mean().over(HANG) < MOST_ELSEWHEN


def left_open(progress: Progress) -> pl.DataFrame:
    """Return ranks that have open what others finished together with them.

    All leave such a collective at once, so that their GPU took part: it failed since,
    or nobody on their host sees any more what ends. One that has entered with another
    size may leave alone, but no further one: a single collective counts only where no
    fewer finished it than have it open.

    Args:
        progress: How far ranks got.
    """
    counts = _with_ends(progress).filter(pl.col("finished").is_not_null())
    open_ = pl.col("finished") < pl.col("ended")
    count = open_.cast(pl.Int64).sum().over(GROUP)
    several = pl.col("finished") < pl.col("ended") - 1
    shown = open_ & (several | (2 * count <= pl.len().over(GROUP)))
    return counts.filter(shown).select(RANK).unique()


def _with_ends(progress: Progress) -> pl.DataFrame:
    """Add `ended`: number of the last collective that needs all, and ended."""
    counts = progress.counts.join(progress.joint, on=GROUP, how="left")
    counts = counts.with_columns(most=pl.col("finished").max().over(GROUP))
    told = pl.when("is_joint" & ~pl.col("is_paired")).then("most")
    return counts.with_columns(ended=pl.max_horizontal("joint", told))
