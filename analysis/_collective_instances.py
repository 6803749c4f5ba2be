"""What the ranks of one collective tell of it together."""

from typing import Final

import polars as pl

from analysis._collective_matching import INSTANCE, PAIR
from ingest.times import SECOND_NS

#: No rank leaves before the last one has arrived: where one seems to, by more than
#: clocks can be off that nothing corrects, the rows are not of one collective. [ns]
APART_NS: Final = SECOND_NS

#: The same on clocks that are known, of rows that were matched by order. [ns]
ORDER_APART_NS: Final = 1_000_000

#: Ranks leave within some 20 us of each other: where their order is in doubt, ends
#: within twice that are of one collective. [ns]
ENDS_NS: Final = 40_000

#: Kinds whose ranks all tell the same size.
_ONE_SIZE: Final = ("allreduce", "allgather", "reducescatter", "broadcast", "reduce")

_ARRIVAL, _LEFT, _RANK = pl.col("arrival_ns"), pl.col("left_ns"), pl.col("rank")


def told_together(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return one row per collective: the columns of INSTANCE, and what is known of it.

    Args:
        rows: What ranks saw of collectives, on one clock as far as it is known.
    """
    root = pl.when("is_rooted").then("peer_rank").alias("root")
    rooted = rows.with_columns(is_rooted=_is_rooted()).with_columns(root)
    gathered = rooted.group_by(INSTANCE).agg(**_seen(), **_arrivals(), **_clocks())
    return _judged(gathered)


def _is_rooted() -> pl.Expr:
    has_root = pl.col("stem").is_in(["broadcast", "reduce"])
    return ~pl.col("is_p2p") & has_root.fill_null(value=False)


def _seen() -> dict[str, pl.Expr]:
    size = pl.col("bytes_total").drop_nulls()
    one_size = pl.col("stem").is_in(_ONE_SIZE).all()
    return {
        "joint": pl.col("joint").all(),
        "is_pair": (pl.col("kind") == PAIR).all(),
        "is_reduce": (pl.col("stem") == "reduce").all(),
        "root": pl.col("root").max(),
        "is_rooted": (pl.col("root").min() == _RANK).any()
        & (pl.col("root").n_unique() == 1),
        "by_order": pl.col("number").is_null().all(),
        "is_uneven": pl.col("is_uneven").any(),
        "sizes_differ": one_size & (size.min() != size.max()).fill_null(value=False),
        "ranks_seen": pl.len().cast(pl.Int64),
        "ranks_expected": pl.col("size").max().cast(pl.Int64),
    }


def _arrivals() -> dict[str, pl.Expr]:
    first_two = _ARRIVAL.top_k(2)
    sent = pl.col("stem") == "send"
    at_root = pl.col("root") == _RANK
    others = _ARRIVAL.filter(~at_root).max()
    return {
        "is_known": _ARRIVAL.is_not_null().all(),
        "last_arrival_ns": _ARRIVAL.max(),
        "root_arrival_ns": _ARRIVAL.filter(at_root).max(),
        "late_ns": pl.when(pl.len() > 1).then(first_two.max() - first_two.min()),
        "late_send_ns": _ARRIVAL.filter(sent).max() - _ARRIVAL.filter(~sent).max(),
        "late_root_ns": _ARRIVAL.filter(at_root).max() - others,
        "last_rank": _RANK.sort_by(_ARRIVAL, "participant").last(),
        "last_participant": pl.col("participant").sort_by(_ARRIVAL).last(),
        "first_left_ns": _LEFT.min(),
        "has_left": _LEFT.is_not_null().all(),
        "last_left_ns": pl.when(_LEFT.is_not_null().all()).then(_LEFT.max()),
        "apart_ns": _LEFT.max() - _LEFT.min(),
    }


def _clocks() -> dict[str, pl.Expr]:
    """Return whether the times can be compared, and what they may be off."""
    on_host = (pl.col("time_basis") != "gpu").all()
    clocks = pl.col("clock").n_unique()
    unsure = pl.col("unsure_ns").top_k(2).sum()
    return {
        "is_comparable": on_host
        | (clocks == 1)
        | (pl.col("component").n_unique() == 1),
        "unsure_ns": pl.when(clocks > 1).then(unsure),
    }


def _judged(gathered: pl.LazyFrame) -> pl.LazyFrame:
    """Keep what the ranks that were seen can tell.

    A last arrival that is ahead of the next by no more than the spread of the ends,
    which should be one instant, is a tie: clocks differ by that much. Where ends are
    no one instant, what the clocks may be off counts. Of clocks that nothing connects,
    only ends that are within what ranks leave apart show that they agree.
    """
    complete = pl.col("is_known") & (pl.col("ranks_seen") >= pl.col("ranks_expected"))
    is_close = (pl.col("apart_ns") <= ENDS_NS).fill_null(value=False)
    makes_wait = pl.col("joint") | pl.col("is_pair") | pl.col("is_rooted")
    sure = (
        complete & makes_wait & (pl.col("is_comparable") | (pl.col("joint") & is_close))
    )
    told = gathered.with_columns(doubt=pl.when(complete).then(_doubt()))
    can_tell = sure & pl.col("doubt").is_null()
    late = (
        pl.when("is_pair")
        .then(pl.col("late_send_ns").clip(0))
        .when("joint")
        .then("late_ns")
        .when("is_reduce")
        .then(
            pl.when(pl.col("last_rank") != pl.col("root")).then("late_ns").otherwise(0)
        )
        .otherwise(pl.col("late_root_ns").clip(0))
    )
    residual = pl.when("joint").then("apart_ns").otherwise("unsure_ns")
    limit = pl.coalesce(pl.when("joint").then("apart_ns"), "unsure_ns")
    is_clear = can_tell & (late > limit.fill_null(0))
    return told.with_columns(
        is_complete=can_tell,
        residual_ns=pl.when(can_tell).then(residual),
        late_ns=pl.when(can_tell).then(late),
        last_rank=pl.when(is_clear).then("last_rank"),
        last_participant=pl.when(is_clear).then("last_participant"),
    ).select(*INSTANCE, *_TOLD)


_TOLD: Final = (
    "root",
    "is_complete",
    "doubt",
    "ranks_seen",
    "ranks_expected",
    "last_arrival_ns",
    "root_arrival_ns",
    "last_left_ns",
    "late_ns",
    "last_rank",
    "last_participant",
    "residual_ns",
)


def _doubt() -> pl.Expr:
    """Return why the rows may not be of one collective; null where they surely are."""
    ahead = pl.col("last_arrival_ns") - pl.col("first_left_ns")
    is_known = pl.col("is_comparable") & pl.col("has_left")
    limit = (
        pl.when(pl.col("by_order") & is_known).then(ORDER_APART_NS).otherwise(APART_NS)
    )
    at_once = (pl.col("apart_ns") <= ENDS_NS) & (ahead <= ENDS_NS)
    together = pl.col("joint") & pl.col("has_left") & at_once
    return (
        pl.when(pl.col("by_order") & pl.col("sizes_differ"))
        .then(pl.lit("size"))
        .when(pl.col("is_uneven") & ~together.fill_null(value=False))
        .then(pl.lit("count"))
        .when(pl.col("joint") & (ahead > limit))
        .then(pl.lit("time"))
    )
