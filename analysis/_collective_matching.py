"""Bring together what the ranks of one collective saw of it."""

from typing import Final

import polars as pl

from analysis._collective_copies import without_copies
from analysis._collective_kinds import stem
from analysis._trace_attempts import place_traces
from ingest.phrases import phrase

#: Columns that tell one series of collectives from another.
SERIES: Final = ("run_id", "attempt", "group_id", "kind", "is_p2p", "time_basis")

#: Columns that tell one collective from another. `occurrence` counts what a rank has
#: seen of the same number, or of the series where collectives carry no number.
INSTANCE: Final = ("series", "source", "target", "number", "within", "occurrence")

#: Kind of a send and its receive, brought together.
PAIR: Final = "send_recv"

_PROJECTED: Final = (
    "run_id",
    "attempt",
    "trace_id",
    "step",
    "rank",
    "rank_in_group",
    "host",
    "device",
    "stream",
    "group_id",
    "group_size",
    "kind",
    "is_p2p",
    "peer_rank",
    "sequence",
    "p2p_sequence",
    "bytes_total",
    "enqueue_ns",
    "start_ns",
    "end_ns",
    "duration_ns",
    "recorded_ns",
    "time_basis",
)


def match(collectives: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Number the collectives of each rank so that equal numbers are one collective.

    With a sequence number, a rank that misses a collective leaves that one incomplete
    and shifts nothing. Without one, the order of a rank's starts counts: within a step
    where every row of the group knows its step, else within the group. A send finds
    its receive by the pair of ranks: by the counter where the pair is all of the
    group, else by order, because the counters of larger groups count other pairs too.
    What has neither a start nor a length waits for nothing that could be told. Where
    no rank is known, the devices of a trace take part. What several traces hold of
    one rank alike counts once.

    Returns:
        The rows with the columns of INSTANCE, `stem`, `participant` and `is_uneven`:
        by order alone, ranks saw more of this series than others did.
    """
    named = without_copies(timed(collectives, attempts)).with_columns(
        stem=stem(),
        participant=_participant(),
    )
    numbered = _pair(named).with_columns(number=_number())
    return _count_occurrences(_number_series(numbered))


def timed(collectives: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Return what has a start or a length, with its attempt and when it was seen."""
    is_timed = pl.col("start_ns").is_not_null() | pl.col("duration_ns").is_not_null()
    known = collectives.filter(is_timed).select(_PROJECTED)
    return place_traces(known.with_columns(seen_ns=seen_ns()), attempts, "seen_ns")


def _participant() -> pl.Expr:
    """Return who took part: a rank, or what of a trace is known to be one."""
    rank = phrase("rank {}", "rank")
    in_group = phrase("{}, rank {} of the group", "trace_id", "rank_in_group")
    device = phrase("{}, device {}", "trace_id", "device")
    return pl.coalesce(rank, in_group, device, "trace_id")


def seen_ns() -> pl.Expr:
    """Return the best that is known of when a collective was. [ns]"""
    return pl.coalesce("start_ns", "enqueue_ns", "recorded_ns")


def _pair(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Tell who sends to whom; a send and its receive become one kind."""
    is_send, is_receive = pl.col("stem") == "send", pl.col("stem") == "recv"
    known = pl.col("is_p2p") & pl.col("rank").is_not_null()
    known &= pl.col("peer_rank").is_not_null() & (is_send | is_receive)
    source = pl.when(is_send).then(pl.col("rank")).otherwise(pl.col("peer_rank"))
    target = pl.when(is_send).then(pl.col("peer_rank")).otherwise(pl.col("rank"))
    return rows.with_columns(
        source=pl.when(known).then(source),
        target=pl.when(known).then(target),
        kind=pl.when(known).then(pl.lit(PAIR)).otherwise(pl.col("kind")),
    )


def _number() -> pl.Expr:
    is_whole_group = pl.col("group_size") == 2  # noqa: PLR2004 - a pair
    of_pair = pl.when(is_whole_group).then(pl.col("p2p_sequence"))
    return pl.when(pl.col("is_p2p")).then(of_pair).otherwise(pl.col("sequence"))


def _number_series(rows: pl.LazyFrame) -> pl.LazyFrame:
    series = rows.select(SERIES).unique().sort(SERIES).with_row_index("series")
    found = rows.join(series, on=list(SERIES), nulls_equal=True)
    by_step = pl.col("step").is_not_null().all().over("series")
    ordered = pl.col("number").is_null() & by_step
    return found.with_columns(within=pl.when(ordered).then(pl.col("step")))


def _count_occurrences(rows: pl.LazyFrame) -> pl.LazyFrame:
    together = list(INSTANCE[:-1])
    same = ["participant", *together]
    position = pl.int_range(pl.len(), dtype=pl.Int64).over(same)
    seen = pl.len().over(same)
    uneven = seen.min().over(together) < seen.max().over(together)
    ordered = rows.sort("p2p_sequence", "start_ns", nulls_last=True)
    by_order = pl.col("number").is_null()
    return ordered.with_columns(occurrence=position, is_uneven=by_order & uneven)
