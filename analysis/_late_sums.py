"""What each rank's arrivals add up to, and who waited for whom."""

from typing import Final

import polars as pl

#: Waiting ranks that are told apart; of more, neighbours are put together. [1]
MOST_NODES: Final = 64

_RANK: Final = ("run_id", "attempt", "rank")

#: What is added up of a rank.
_SUMS: Final = (
    *("complete_count", "collectives_count", "last_count", "wait_ns", "late_ns"),
)

_EDGE: Final = ("run_id", "attempt", "waiting_rank", "late_rank")


def sums_by_trace(waits: pl.LazyFrame) -> pl.LazyFrame:
    """Add up each rank's part by trace; chances only where one rank is clearly last.

    Chances are kept by the number of ranks they are shared among, so that their sum
    does not depend on the order of the rows.

    Args:
        waits: What `rank_waits` returns.
    """
    has_last = pl.col("last_rank").is_not_null()
    is_last = (pl.col("last_rank") == pl.col("rank")).fill_null(value=False)
    known = pl.col("joint") & pl.col("is_complete") & pl.col("rank").is_not_null()
    return (
        waits.filter(known)
        .group_by(*_RANK, "trace_id", "ranks_seen")
        .agg(
            complete_count=pl.len().cast(pl.Int64),
            collectives_count=has_last.cast(pl.Int64).sum(),
            last_count=is_last.cast(pl.Int64).sum(),
            wait_ns=pl.col("wait_ns").sum(),
            late_ns=pl.col("late_ns").filter(is_last).sum(),
            from_ns=pl.col("start_ns").min(),
            to_ns=pl.col("end_ns").max(),
        )
    )


def sums_by_size(parts: pl.DataFrame) -> pl.DataFrame:
    """Add up each rank's part by the number of ranks that it met.

    Args:
        parts: Rows of `sums_by_trace`.
    """
    counts = pl.col(_SUMS)
    return parts.group_by(*_RANK, "ranks_seen").agg(counts.sum())


def sums_by_rank(parts: pl.DataFrame, sizes: pl.DataFrame) -> pl.DataFrame:
    """Add up each rank's part, with the time that it was watched for. [ns]

    Args:
        parts: Rows of `sums_by_trace`.
        sizes: Rows of `sums_by_size`.
    """
    watched = parts.group_by(*_RANK, "trace_id").agg(
        watched_ns=pl.col("to_ns").max() - pl.col("from_ns").min()
    )
    times = watched.group_by(_RANK).agg(pl.col("watched_ns").sum())
    chance = pl.col("collectives_count") / pl.col("ranks_seen")
    counts = pl.col(_SUMS)
    sums = sizes.group_by(_RANK).agg(
        counts.sum(), expected_count=chance.sort_by("ranks_seen").sum()
    )
    return sums.join(times, on=list(_RANK))


def edges(waits: pl.LazyFrame) -> pl.LazyFrame:
    """Add up how long each rank waited for each that was clearly the last.

    Args:
        waits: What `rank_waits` returns.
    """
    rank, last = pl.col("rank"), pl.col("last_rank")
    clear = last.is_not_null() & rank.is_not_null() & (rank != last)
    waited = waits.filter(clear, pl.col("wait_ns") > 0)
    named = waited.rename({"rank": "waiting_rank", "last_rank": "late_rank"})
    return named.group_by(_EDGE).agg(
        collectives_count=pl.len().cast(pl.Int64), wait_ns=pl.col("wait_ns").sum()
    )


def bundled(parts: pl.DataFrame, most_nodes: int = MOST_NODES) -> pl.DataFrame:
    """Put neighbouring waiting ranks together where there are too many of them.

    Args:
        parts: Rows of `edges`.
        most_nodes: Waiting ranks that are told apart. [1]

    Returns:
        The rows added up, with `waiting_to_rank`, the last of each bundle.
    """
    attempt = ("run_id", "attempt")
    ranks = (
        pl.max_horizontal(
            pl.col("waiting_rank").max().over(attempt),
            pl.col("late_rank").max().over(attempt),
        ).cast(pl.Int64)
        + 1
    )
    least = (ranks + most_nodes - 1) // most_nodes
    width = 2 ** least.log(2).ceil().cast(pl.Int64)
    first = pl.col("waiting_rank") // width * width
    until = pl.min_horizontal(first + width, ranks) - 1
    wide = parts.with_columns(
        waiting_rank=first.cast(pl.Int32), waiting_to_rank=until.cast(pl.Int32)
    )
    return wide.group_by(*_EDGE, "waiting_to_rank").agg(
        pl.col("collectives_count", "wait_ns").sum()
    )
