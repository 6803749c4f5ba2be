"""Ranks that have asked for less than others of their groups."""

from typing import Final

import polars as pl

from analysis._hang_dumps import HANG, RANK
from analysis._hang_graph import MOST
from analysis._hang_members import GROUP
from analysis._hang_operations import Operations

#: Share of the dumps that must show a wait before ranks that are behind are named where
#: no wait leads to anybody: in a job that runs, some ranks have nothing open. [1]
LEAST_STANDING: Final = 0.75


def behind_of(counts: pl.DataFrame, usable: pl.DataFrame) -> pl.DataFrame:
    """Return ranks that asked for fewer collectives of a group than another did.

    Numbers of sends and receives are a rank's own, so groups of those do not count;
    nor do groups of which half are behind, but for pairs.

    Args:
        counts: How far ranks got in their groups.
        usable: Ranks of hangs whose dumps are of one moment, but for few: one that is
            older than what others finished may have been written as its rank failed.

    Returns:
        Per rank the group in which it is furthest behind: `less_group`, `less_kind`
        (what that is for), `less_number` (its last) and `less_most` (that of others).
    """
    joint = counts.filter(~pl.col("is_paired") & pl.col("entered").is_not_null())
    rows = joint.join(usable, on=RANK, how="semi").with_columns(
        most=pl.col("entered").max().over(GROUP)
    )
    # as numbers with a point: their differences may not fit into 64 bits
    lag = pl.col("most").cast(pl.Float64) - pl.col("entered").cast(pl.Float64)
    less = pl.col("entered") < pl.col("most")
    size, count = pl.len().over(GROUP), less.cast(pl.Int64).sum().over(GROUP)
    few = (2 * count < size) | ((count == 1) & (size <= 2))  # noqa: PLR2004 - a pair
    ordered = rows.filter(less & few).sort(
        *RANK, lag, "group_id", descending=[False] * len(RANK) + [True, False]
    )
    return ordered.unique(RANK, keep="first", maintain_order=True).select(
        *RANK,
        less_group="group_id",
        less_kind="parallel_kind",
        less_number="entered",
        less_most="most",
    )


def _standing(found: Operations, dumps: pl.DataFrame) -> pl.DataFrame:
    """Return the hangs in which most ranks stand at something."""
    stands = found.standing.select(RANK).unique().with_columns(stands=1)
    share = pl.col("stands").count() / pl.len()
    rows = dumps.join(stands, on=RANK, how="left").group_by(HANG).agg(share=share)
    return rows.filter(pl.col("share") >= LEAST_STANDING).select(HANG)


def roots_with_behind(
    roots: pl.DataFrame, behind: pl.DataFrame, found: Operations, dumps: pl.DataFrame
) -> pl.DataFrame:
    """Return the roots together with few ranks that are behind in a hang.

    Hosts go on asking while their GPU waits, all alike: where one to MOST ranks alone
    have asked for less, their hosts have stopped, whatever their GPUs wait for. A
    second fault hides so behind a first, and is excused by it. Where both together are
    more than MOST, roots go that wait for each other and are not behind, then those
    without a dump; were it still too many, those count that are both, or the roots,
    where none is. It says nothing where too many roots are left, where it would name
    more than half of the ranks, or where a rank
    entered something else than the others, which explains the wait alone. Without any
    root it says something where LEAST_STANDING of the ranks wait.

    Args:
        roots: Rows of `roots_with_missing`.
        behind: Rows of `behind_of`.
        found: Operations, who stands at them and whom they wait for.
        dumps: Rows of `dumps_of`.

    Returns:
        `run_id`, `hang`, `rank`.
    """
    held = roots.with_columns(is_root=pl.lit(value=True))
    few = roots.filter(pl.len().over(HANG) <= MOST).select(HANG)
    few = pl.concat([few, _standing(found, dumps).join(roots, on=HANG, how="anti")])
    wrong = found.awaited.filter(pl.col("rule").str.starts_with("other_"))
    less = (
        behind.filter(pl.len().over(HANG) <= MOST)
        .join(few, on=HANG, how="semi")
        .join(wrong, on=HANG, how="anti")
        .select(*RANK, is_less=pl.lit(value=True))
    )
    rows = held.join(less, on=RANK, how="full", coalesce=True).with_columns(
        pl.col("is_root", "is_less", "is_mutual", "is_gone").fill_null(value=False)
    )
    is_root, is_less = pl.col("is_root"), pl.col("is_less")
    alone, both = pl.col("is_mutual") & ~is_less, (is_root & is_less).any().over(HANG)
    seen = (is_root & ~pl.col("is_gone") & ~alone).any().over(HANG)
    either = is_root | is_less
    steps = [either, ~alone, ~alone & ~(pl.col("is_gone") & seen)]
    last = pl.when(both).then(is_less).otherwise(is_root)
    kept = pl.coalesce(
        *[pl.when(step.sum().over(HANG) <= MOST).then(step) for step in steps], last
    )
    ranks = dumps.group_by(HANG).agg(ranks=pl.len())
    rows = rows.with_columns(kept=kept).join(ranks, on=HANG, how="left")
    named = pl.col("kept").sum().over(HANG)
    changes = is_less.any().over(HANG) & (2 * named <= pl.col("ranks"))
    chosen = pl.when(changes).then("kept").otherwise("is_root")
    return rows.filter(chosen).select(RANK).sort(RANK)
