"""Dumps of ranks, brought together by the hang that they tell of."""

from typing import Final

import dataframely as dy
import polars as pl

from ingest.tables import Collectives, GroupStatus
from ingest.times import SECOND_NS

#: Silences between the last requests of two ranks that part two hangs. All ranks of a
#: job stop within a step of each other, and a job that hangs is started again after
#: minutes. Shorter ones count only where a rank would have two dumps of one hang. [ns]
GAPS_NS: Final = (300 * SECOND_NS, 60 * SECOND_NS, 10 * SECOND_NS, SECOND_NS)

#: What tells a hang from others.
HANG: Final = ("run_id", "hang")

#: What tells a rank's dump from others.
RANK: Final = (*HANG, "rank")


def entries_of(collectives: dy.LazyFrame[Collectives]) -> pl.LazyFrame:
    """Return what dumps hold of collectives, sends and receives.

    Of all sources only dumps have the host's clock, a global rank and the moment of the
    request.
    """
    is_dumped = (
        (Collectives.time_basis.col == "cpu")
        & Collectives.rank.col.is_not_null()
        & Collectives.enqueue_ns.col.is_not_null()
    )
    return collectives.filter(is_dumped).select(
        *("run_id", "rank", "event", "group_id", "parallel_kind", "kind", "is_p2p"),
        *("peer_rank", "sequence", "bytes_total", "dtype", "enqueue_ns", "end_ns"),
        "state",
        "p2p_sequence",
        dump_id="trace_id",
        is_started=(Collectives.state.col == "started")
        | Collectives.start_ns.col.is_not_null(),
    )


def statuses_of(statuses: dy.LazyFrame[GroupStatus]) -> pl.LazyFrame:
    """Return how far dumps say that their rank got; polls of RAS name no rank."""
    is_dumped = (
        GroupStatus.rank.col.is_not_null()
        & GroupStatus.kind.col.is_null()
        & GroupStatus.rank_state.col.is_null()
    )
    return statuses.filter(is_dumped).select(
        *("run_id", "dump_id", "rank", "time_ns", "group_id", "parallel_kind"),
        *("last_enqueued", "last_completed"),
    )


def dumps_of(statuses: pl.LazyFrame, entries: pl.LazyFrame) -> pl.DataFrame:
    """Return one row per hang and rank: the dump that tells of it.

    The time of a dump is that of its last request. A dump without a request has none:
    it belongs to the hang in which its rank has no other; of several, to the one whose
    groups had counted as far as its own.

    Args:
        statuses: Rows of `statuses_of`.
        entries: Rows of `entries_of`.

    Returns:
        `run_id`, `hang` (counted in a run by time), `rank`, `dump_id`, `last_ns` (null
        of an empty dump), `entries` (how many it holds).
    """
    dumps = _dumps(statuses, entries)
    timed = _one_per_rank(_numbered(dumps.filter(pl.col("last_ns").is_not_null())))
    empty = dumps.filter(pl.col("last_ns").is_null())
    if empty.is_empty() or timed.is_empty():
        return timed
    attached = _attached(empty, timed, statuses)
    return pl.concat([timed, attached], how="diagonal_relaxed").sort(RANK)


def _dumps(statuses: pl.LazyFrame, entries: pl.LazyFrame) -> pl.DataFrame:
    dump = ("run_id", "dump_id")
    held = entries.group_by(dump).agg(
        pl.col("rank").min(), last_ns=pl.col("enqueue_ns").max(), entries=pl.len()
    )
    told = statuses.group_by(dump).agg(
        pl.col("rank").min().alias("told"), told_ns=pl.col("time_ns").max()
    )
    both = held.join(told, on=dump, how="full", coalesce=True)
    return both.select(
        *dump,
        rank=pl.coalesce("rank", "told"),
        last_ns=pl.coalesce("last_ns", "told_ns"),
        entries=pl.col("entries").fill_null(0).cast(pl.Int64),
    ).collect(engine="streaming")


def _numbered(dumps: pl.DataFrame) -> pl.DataFrame:
    """Cut the dumps of each run where they are silent, until no rank repeats."""
    rows = dumps.sort("run_id", "last_ns", "rank", "dump_id").with_columns(
        hang=pl.lit(0, pl.Int64), is_crowded=pl.lit(value=True)
    )
    silence = pl.col("last_ns").diff().over("run_id").fill_null(0)
    is_new = (pl.col("hang").diff().over("run_id") != 0).fill_null(value=False)
    for gap in GAPS_NS:
        cut = is_new | (pl.col("is_crowded") & (silence > gap))
        rows = rows.with_columns(hang=cut.cast(pl.Int64).cum_sum().over("run_id"))
        repeats = pl.struct(*RANK).is_duplicated()
        rows = rows.with_columns(is_crowded=repeats.any().over(HANG))
    return rows.drop("is_crowded")


def _one_per_rank(dumps: pl.DataFrame) -> pl.DataFrame:
    """Return the last dump of each rank of a hang."""
    ordered = dumps.sort(*HANG, "rank", "last_ns", "entries", "dump_id")
    return ordered.unique(RANK, keep="last", maintain_order=True)


def _attached(
    empty: pl.DataFrame, timed: pl.DataFrame, statuses: pl.LazyFrame
) -> pl.DataFrame:
    """Give empty dumps their hang; those that fit several equally well are left out."""
    hangs = timed.select(HANG).unique()
    possible = empty.join(hangs, on="run_id").join(timed, on=RANK, how="anti")
    told = statuses.select("run_id", "dump_id", "group_id", "last_enqueued").collect()
    # as numbers with a point: their differences may not fit into 64 bits
    told = told.with_columns(pl.col("last_enqueued").cast(pl.Float64))
    most = (
        timed.join(told, on=("run_id", "dump_id"))
        .group_by(*HANG, "group_id")
        .agg(most=pl.col("last_enqueued").max())
    )
    distance = (pl.col("most") - pl.col("last_enqueued")).abs().max()
    fits = (
        possible.join(told, on=("run_id", "dump_id"))
        .join(most, on=(*HANG, "group_id"))
        .group_by(*HANG, "dump_id")
        .agg(distance=distance)
    )
    scored = possible.join(fits, on=(*HANG, "dump_id"), how="left")
    far = pl.col("distance").fill_null(float("inf"))
    nearest = far == far.min().over("run_id", "dump_id")
    found = scored.filter(nearest)
    alone = pl.len().over("run_id", "dump_id") == 1
    kept = found.filter(alone).sort(*RANK, "dump_id").unique(RANK, keep="first")
    return kept.drop("distance")
