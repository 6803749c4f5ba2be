"""Hangs that polls of RAS tell of."""

from typing import Final

import dataframely as dy
import polars as pl

from analysis._hang_graph import MOST
from analysis._hang_result import Found
from ingest.communication import POINT_TO_POINT
from ingest.phrases import phrase
from ingest.tables import GroupStatus

#: Polls in a row without progress that make a hang: counts of ranks are read while they
#: run, so one poll of a healthy group shows different ones, too. [1]
LEAST_POLLS: Final = 3

_GROUP: Final = ("run_id", "group_id")
_RANK: Final = (*_GROUP, "rank_in_group")


def hangs_in_polls(
    statuses: dy.LazyFrame[GroupStatus], least_polls: int = LEAST_POLLS
) -> Found:
    """Find the groups that make no progress over the last polls.

    A poll names no global rank, so groups stand alone: nothing tells what a rank that
    is behind waits for in another group. A rank that is dead is one at once; one that
    did not answer, or that is behind the others, over several polls.

    Args:
        statuses: How far ranks got, from polls of RAS.
        least_polls: Polls without progress that make a hang. [1]
    """
    polls = _last_polls(statuses, least_polls)
    if polls.is_empty():
        return Found()
    stands = (pl.col("counts") == 1) & (pl.col("polls") >= least_polls)
    last = polls.with_columns(stands=stands.all().over(_GROUP)).filter("is_last")
    state, number = pl.col("rank_state"), pl.col("last_enqueued")
    # ranks of a healthy group send and receive different numbers of messages
    is_joint = ~pl.col("kind").is_in(POINT_TO_POINT)
    behind = is_joint & (number < number.max().over(*_GROUP, "kind"))
    silent = state.is_in(["missing", "unresponsive"])
    rule = (
        pl.when(state == "dead")
        .then(pl.lit("dead"))
        .when(silent & pl.col("stands"))
        .then(state)
        .when(behind & pl.col("stands"))
        .then(pl.lit("behind"))
    )
    judged = last.with_columns(rule=rule).filter(
        pl.col("rule").is_not_null().any().over(_GROUP)
    )
    if judged.is_empty():
        return Found()
    suspects = _suspects(judged)
    return Found(hangs=_hangs(judged, suspects), suspects=suspects)


def _last_polls(statuses: dy.LazyFrame[GroupStatus], least: int) -> pl.DataFrame:
    """Return the rows of each group's last polls, and whether their counts moved."""
    polled = (
        GroupStatus.rank_state.col.is_not_null() & GroupStatus.time_ns.col.is_not_null()
    )
    rows = statuses.filter(polled).select(
        *_RANK,
        "kind",
        "host",
        "time_ns",
        "group_size",
        "parallel_kind",
        "rank_state",
        "last_enqueued",
    )
    frame = rows.collect(engine="streaming")
    place = pl.col("time_ns").rank("dense", descending=True).over(_GROUP)
    kept = frame.with_columns(place=place).filter(pl.col("place") <= least)
    one = (*_RANK, "kind")
    same = pl.struct("last_enqueued", "rank_state").n_unique().over(one)
    return kept.with_columns(
        counts=same,
        polls=pl.col("time_ns").n_unique().over(_GROUP),
        is_last=pl.col("place") == 1,
    )


def _suspects(judged: pl.DataFrame) -> pl.DataFrame:
    """Return one row per rank that is to blame or waits."""
    words = pl.coalesce(
        pl.when(pl.col("rule") == "behind").then(
            phrase(
                "has launched {} {} where others have launched {}, over all polls",
                "last_enqueued",
                "kind",
                "most",
            )
        ),
        pl.when(pl.col("rule").is_not_null()).then(phrase("is {}", "rule")),
        pl.lit("waits"),
    )
    most = pl.col("last_enqueued").max().over(*_GROUP, "kind")
    rows = judged.with_columns(most=most).with_columns(evidence=words)
    first = rows.sort(*_RANK, pl.col("rule").is_null(), "kind")
    ranks = first.unique(_RANK, keep="first", maintain_order=True)
    fits = pl.col("rule").is_not_null().cast(pl.Int64).sum().over(_GROUP)
    has_rule = pl.col("rule").is_not_null()
    role = pl.when(has_rule).then(pl.lit("candidate")).otherwise(pl.lit("blocked"))
    order = pl.struct(~has_rule, "rank_in_group").rank("ordinal").over(_GROUP)
    return ranks.with_columns(
        fits=fits,
        is_candidate=has_rule & (fits <= MOST),
        role=role,
        hang_id=phrase("poll {}", "group_id"),
        position=order.cast(pl.Int32) - 1,
        sequence="last_enqueued",
        last_ns="time_ns",
    )


def _hangs(judged: pl.DataFrame, suspects: pl.DataFrame) -> pl.DataFrame:
    who = phrase("rank {} of {}", "rank_in_group", "group_id")
    named = pl.when("is_candidate").then(phrase("{} {}", who, "evidence"))
    answered = pl.col("rank_state") == "answered"
    rules = pl.col("rule").drop_nulls()
    rows = suspects.group_by("run_id", "hang_id").agg(
        first_ns=pl.col("last_ns").min(),
        last_ns=pl.col("last_ns").max(),
        ranks_expected=pl.coalesce(pl.col("group_size").max(), pl.len()),
        ranks_seen=answered.cast(pl.Int64).sum(),
        ranks_missing=(~answered).cast(pl.Int64).sum(),
        ranks_waiting=pl.col("rule").is_null().cast(pl.Int64).sum(),
        candidates_count=pl.col("fits").first(),
        named=named.sort_by("rank_in_group").drop_nulls().str.join("; "),
        is_gone=(rules != "behind").any(),
        is_named=pl.col("is_candidate").any(),
    )
    kind = (
        pl.when(~pl.col("is_named"))
        .then(pl.lit("undecided"))
        .when("is_gone")
        .then(pl.lit("rank_dead"))
        .otherwise(pl.lit("rank_stuck"))
    )
    many = phrase("{} ranks fit the evidence, too many to name any", "candidates_count")
    return rows.with_columns(
        kind=kind,
        verdict=pl.when("is_named").then("named").otherwise(many),
        source=pl.lit("polls"),
        ranks_elsewhen=pl.lit(0, pl.Int64),
        stuck_groups=pl.lit(1, pl.Int64),
    )
