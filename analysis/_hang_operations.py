"""Operations that ranks of a hang stand at, and whom each of them waits for."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._hang_awaited import awaited_in_collectives, awaited_in_pairs
from analysis._hang_dumps import RANK
from analysis._hang_members import GROUP
from analysis._hang_moments import left_open
from analysis._hang_progress import Progress

_INSTANCE: Final = (*GROUP, "sequence")

#: A send or receive is its rank's own: the two sides have numbers of their own.
_PAIR: Final = (*GROUP, "rank", "peer_rank", "kind")


@dataclass(frozen=True, slots=True)
class Operations:
    """Operations that somebody stands at.

    Attributes:
        operations: `operation` (its index), and what it is.
        standing: One row per operation and rank that stands at it, with `is_weak`.
        awaited: One row per operation and rank that it waits for, with the `rule`, and
            `is_own`: whether that is the rank's own doing, whatever it waits for.
    """

    operations: pl.DataFrame
    standing: pl.DataFrame
    awaited: pl.DataFrame


def operations_of(
    heads: pl.DataFrame,
    members: pl.DataFrame,
    dumps: pl.DataFrame,
    progress: Progress,
) -> Operations:
    """Tell whom each operation waits for.

    Of a collective: for members that enter something else under its number; else, if a
    member finished it already, for those that cannot finish; else for members that do
    not stand at it; else, where all stand at it, for those that have not started, or
    for all. Members without a dump are waited for only where nothing else explains it.
    A send or receive waits for its other side.

    Args:
        heads: Rows of `heads_of`.
        members: Rows of `members_of`.
        dumps: Rows of `dumps_of`.
        progress: How far ranks got.
    """
    operations, standing = _places(heads)
    awaited = pl.concat(
        [
            awaited_in_collectives(operations, standing, members, dumps, progress),
            awaited_in_pairs(operations, dumps),
        ],
        how="diagonal_relaxed",
    )
    return Operations(operations, standing, _with_own(awaited, progress))


def _places(heads: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the operations, and who stands at each."""
    is_known, is_pair = pl.col("group_id").is_not_null(), pl.col("is_p2p")
    joint, pairs = heads.filter(is_known & ~is_pair), heads.filter(is_known & is_pair)
    lost = heads.filter(~is_known)
    usual = _usual("bytes_total"), _usual("parallel_kind")
    parts = [
        joint.group_by(_INSTANCE).agg(_usual("kind"), *usual, is_p2p=pl.lit(False)),
        pairs.group_by(_PAIR).agg(*usual, is_p2p=pl.lit(value=True)),
        lost.select(RANK).unique(),
    ]
    listed = pl.concat(parts, how="diagonal_relaxed")
    listed = listed.sort(*GROUP, "sequence", "rank", "peer_rank", "kind")
    operations = listed.with_row_index("operation")
    sides = (
        (joint, operations.filter(~is_pair), _INSTANCE),
        (pairs, operations.filter(is_pair), _PAIR),
        (lost, operations.filter(~is_known), RANK),
    )
    standing = [_numbered(rows, named, key) for rows, named, key in sides]
    return operations, pl.concat(standing)


def _with_own(awaited: pl.DataFrame, progress: Progress) -> pl.DataFrame:
    """Tell ranks that have open what others finished: whatever they wait for."""
    failed = left_open(progress).with_columns(is_failed=pl.lit(value=True))
    rows = awaited.join(failed, on=RANK, how="left")
    told = pl.col("is_failed").fill_null(value=False) & ~pl.col("is_own")
    return (
        rows.with_columns(
            rule=pl.when(told).then(pl.lit("left_open")).otherwise("rule"),
            is_own=told | pl.col("is_own"),
        )
        .drop("is_failed")
        .sort("operation", "rank")
    )


def _usual(name: str) -> pl.Expr:
    """Return what most ranks have."""
    return pl.col(name).drop_nulls().mode().min()


def _numbered(
    heads: pl.DataFrame, operations: pl.DataFrame, key: tuple[str, ...]
) -> pl.DataFrame:
    found = heads.join(operations.select("operation", *key), on=key)
    told = ("operation", *RANK, "is_weak", "is_started", "enqueue_ns")
    ordered = found.select(told).sort(told)
    return ordered.unique(("operation", *RANK), keep="first", maintain_order=True)
