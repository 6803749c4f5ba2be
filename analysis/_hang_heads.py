"""Where ranks of a hang stand: at the oldest operation that each has not finished."""

from typing import Final

import polars as pl

from analysis._hang_dumps import RANK
from analysis._hang_members import GROUP
from analysis._hang_progress import Progress

#: Columns of an operation that a rank stands at.
HEAD: Final = (
    *RANK,
    "group_id",
    "parallel_kind",
    "kind",
    "is_p2p",
    "sequence",
    "peer_rank",
    "bytes_total",
    "enqueue_ns",
    "is_started",
)

_INSTANCE: Final = (*GROUP, "sequence")


def heads_of(progress: Progress) -> pl.DataFrame:
    """Return the operations that ranks stand at.

    A GPU does what it is asked for in order: it stands at the oldest that did not end.
    Sends and receives may be left open while the rank goes on, so of a rank whose
    oldest is one, the oldest that is no send and the oldest collective are there, too:
    it may stand at any. What a small buffer no longer holds is older than all that it
    holds, and is known by its number alone.

    Args:
        progress: How far ranks got.

    Returns:
        Columns of HEAD and `is_weak`: whether the rank may have passed it. A rank that
        stands at something unknown has a row without a group.
    """
    pending = _without_bundles(progress)
    lost = _lost(progress)
    visible = pending.join(lost, on=RANK, how="anti").with_columns(is_weak="is_p2p")
    unknown = progress.pending.select(RANK).unique()
    unknown = unknown.join(visible, on=RANK, how="anti").join(lost, on=RANK, how="anti")
    parts = [
        _oldest(visible),
        _oldest(visible.filter(~pl.col("is_p2p") | (pl.col("kind") != "send"))),
        _oldest(visible.filter(~pl.col("is_p2p"))),
        lost,
        unknown,
    ]
    every = pl.concat(parts, how="diagonal_relaxed")
    found = every.with_columns(pl.col("is_weak", "is_p2p").fill_null(value=False))
    return found.select(*HEAD, "is_weak").unique().sort(*RANK, "is_weak", "group_id")


def _oldest(pending: pl.DataFrame) -> pl.DataFrame:
    ties = (*RANK, "event", "group_id", "kind", "sequence", "peer_rank", "bytes_total")
    return pending.sort(ties).unique(RANK, keep="first", maintain_order=True)


def _without_bundles(progress: Progress) -> pl.DataFrame:
    """Leave out bundles of sends and receives, and what has no number or other side.

    Ranks of a pipeline bundle different sends and receives, so the numbers of a bundle
    differ between them; its parts have entries of their own.
    """
    paired = progress.counts.filter("is_paired").select(GROUP).unique()
    is_bundle = (pl.col("kind") == "coalesced") & pl.col("is_paired")
    has_number = ~pl.col("is_p2p") & pl.col("sequence").is_not_null()
    known = has_number | (pl.col("is_p2p") & pl.col("peer_rank").is_not_null())
    marked = progress.pending.join(
        paired.with_columns(is_paired=True), on=GROUP, how="left"
    )
    return marked.filter(known & ~is_bundle.fill_null(value=False)).drop("is_paired")


def _lost(progress: Progress) -> pl.DataFrame:
    """Return what is open and no longer shown by the dumps.

    Of several collectives the oldest is meant: that which nobody shows any more, else
    that which others asked for first. A send or receive is known not to be shown, but
    not its other side.
    """
    after = pl.col("finished") + 1
    is_open = pl.col("entered") > pl.col("finished")
    is_older = pl.col("first_open").is_null() | (pl.col("first_open") > after)
    found = progress.counts.filter(~pl.col("is_paired") & is_open & is_older)
    joint = found.select(*RANK, "group_id", "parallel_kind", sequence=after)
    pairs = progress.counts.filter("is_lost_pair").select(RANK).unique()
    told = [
        _first_asked(joint, progress.entries).with_columns(is_weak=pl.lit(value=False)),
        pairs.with_columns(is_weak=pl.lit(value=True)),
    ]
    return pl.concat(told, how="diagonal_relaxed").with_columns(
        is_p2p=pl.lit(value=False)
    )


def _first_asked(lost: pl.DataFrame, entries: pl.LazyFrame) -> pl.DataFrame:
    asked = (
        entries.join(lost.lazy().select(_INSTANCE).unique(), on=_INSTANCE)
        .group_by(_INSTANCE)
        .agg(asked_ns=pl.col("enqueue_ns").min())
        .collect(engine="streaming")
    )
    timed = lost.join(asked, on=_INSTANCE, how="left").with_columns(
        pl.col("asked_ns").fill_null(-1)
    )
    return timed.filter(pl.col("asked_ns") == pl.col("asked_ns").min().over(RANK)).drop(
        "asked_ns"
    )
