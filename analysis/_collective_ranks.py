"""What each rank waited for in each collective."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis._collective_clocks import without_offsets
from analysis._collective_kinds import is_joint
from analysis._collective_matching import INSTANCE, PAIR, match
from ingest.times import SECOND_NS

#: Rows to hold at once; matching a row takes some 600 B.
BATCH_ROWS: Final = 1_000_000

#: No rank leaves before the last one has arrived: where one seems to, by more than
#: clocks can be off that nothing corrects, the rows are not of one collective. [ns]
APART_NS: Final = SECOND_NS

_GROUP: Final = ("run_id", "group_id")

_ARRIVAL, _LEFT = pl.col("arrival_ns"), pl.col("left_ns")


def rank_waits(collectives: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Return what each rank saw of each collective, and how long it waited there.

    Where all leave together, a rank waits from its arrival to the last one. A receive
    waits for the start of its send. Broadcasts and reduces wait for a root that no
    source names: their waits are null, and so are those of collectives that a rank is
    missing from, and of rows too far apart to be one collective.

    The clocks of ranks are compared by the ends of their collectives, and what they are
    off is taken out. Times of a host's clock are no arrivals. Of such rows the duration
    counts: as all leave together, the rank that was in it longest came first.

    Args:
        collectives: Rows of Collectives.
        attempts: Rows of Attempts, for traces that do not tell theirs.

    Returns:
        The rows with `wait_ns`, and what is known of their collective: `instance` (its
        number), `joint` (all leave together), `is_complete`, `ranks_seen`,
        `ranks_expected`, `last_arrival_ns`, `last_left_ns`, `late_ns`, `last_rank`
        and `residual_ns`.
    """
    rows = without_offsets(_with_arrivals(match(collectives, attempts)))
    instances = _told(_gathered(rows)).with_row_index("instance")
    wait = (
        pl.when("joint")
        .then(pl.col("last_arrival_ns") - _ARRIVAL)
        .when(pl.col("kind") == PAIR)
        .then(pl.when(pl.col("stem") == "recv").then("late_ns").otherwise(0))
    )
    return rows.join(instances, on=list(INSTANCE), nulls_equal=True).with_columns(
        wait_ns=pl.when("is_complete").then(wait)
    )


def waits_in_batches(
    collectives: pl.LazyFrame, attempts: pl.LazyFrame, batch_rows: int = BATCH_ROWS
) -> Iterator[pl.LazyFrame]:
    """Yield the waits of whole groups, at least one, about so many rows at a time.

    Collectives of different groups have nothing to do with each other, so that no more
    than the largest group must fit into memory.

    Args:
        collectives: Rows of Collectives.
        attempts: Rows of Attempts.
        batch_rows: Rows to hold at once. [1]
    """
    counted = collectives.group_by(_GROUP).len("rows").collect(engine="streaming")
    before = pl.col("rows").cast(pl.Int64).cum_sum() - pl.col("rows")
    groups = counted.sort(_GROUP).with_columns(batch=before // batch_rows)
    for batch in groups.partition_by("batch") or [groups]:
        names = batch.lazy().select(_GROUP)
        rows = collectives.join(names, on=list(_GROUP), how="semi")
        yield rank_waits(rows, attempts)


def _with_arrivals(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Give each row the time that its rank arrived and left, on one clock. [ns]"""
    on_gpu = pl.col("time_basis") == "gpu"
    by_duration = pl.when(is_joint()).then(-pl.col("duration_ns"))
    left = pl.when(pl.col("duration_ns").is_not_null()).then(0)
    told = pl.when(pl.col("group_size") > 0).then("group_size")
    size = pl.when(pl.col("kind") == PAIR).then(2).otherwise(told)
    return rows.with_columns(
        joint=is_joint(),
        arrival_ns=pl.when(on_gpu).then("start_ns").otherwise(by_duration),
        left_ns=pl.when(on_gpu).then("end_ns").otherwise(left),
        size=pl.coalesce(size, pl.col("participant").n_unique().over("series")),
    )


def _gathered(rows: pl.LazyFrame) -> pl.LazyFrame:
    first_two = _ARRIVAL.top_k(2)
    sent = pl.col("stem") == "send"
    return rows.group_by(INSTANCE).agg(
        joint=pl.col("joint").all(),
        is_pair=(pl.col("kind") == PAIR).all(),
        ranks_seen=pl.len().cast(pl.Int64),
        ranks_expected=pl.col("size").max().cast(pl.Int64),
        is_known=_ARRIVAL.is_not_null().all(),
        last_arrival_ns=_ARRIVAL.max(),
        late_ns=pl.when(pl.len() > 1).then(first_two.max() - first_two.min()),
        late_send_ns=_ARRIVAL.filter(sent).max() - _ARRIVAL.filter(~sent).max(),
        last_rank=pl.col("rank").sort_by(_ARRIVAL).last(),
        first_left_ns=_LEFT.min(),
        last_left_ns=pl.when(_LEFT.is_not_null().all()).then(_LEFT.max()),
        residual_ns=_LEFT.max() - _LEFT.min(),
    )


def _told(gathered: pl.LazyFrame) -> pl.LazyFrame:
    """Keep what the ranks that were seen can tell.

    A last arrival that is ahead of the next by no more than the spread of the ends,
    which should be one instant, is a tie: clocks differ by that much.
    """
    complete = pl.col("is_known") & (pl.col("ranks_seen") >= pl.col("ranks_expected"))
    ahead = pl.col("last_arrival_ns") - pl.col("first_left_ns")
    is_one = (ahead <= APART_NS).fill_null(value=True)
    can_tell = complete & pl.when("joint").then(is_one).otherwise("is_pair")
    late = pl.when("is_pair").then(pl.col("late_send_ns").clip(0)).otherwise("late_ns")
    residual = pl.when(pl.col("joint") & can_tell).then("residual_ns")
    is_clear = late > residual.fill_null(0)
    return gathered.with_columns(
        is_complete=can_tell,
        residual_ns=residual,
        late_ns=pl.when(can_tell).then(late),
        last_rank=pl.when(can_tell & is_clear).then("last_rank"),
    ).drop("is_known", "late_send_ns", "is_pair", "first_left_ns")
