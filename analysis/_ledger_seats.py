"""The GPUs that were paid for, and the evidence of each."""

from typing import Final

import polars as pl

#: Column that tells one GPU of an attempt from another in all that follows.
SEAT: Final = "seat"

_ATTEMPT: Final = ["run_id", "attempt"]

#: What GPUs without evidence of their own must share to be one seat.
_ALIKE: Final = [*_ATTEMPT, "role", "from_ns", "to_ns"]


def number_seats(allocations: pl.LazyFrame, known: pl.LazyFrame) -> pl.LazyFrame:
    """Number the GPUs that were paid for, those alike that nothing tells of as one.

    Args:
        allocations: Rows of Allocations.
        known: Ranks that anything tells of: run_id and rank, in any number of rows.

    Returns:
        Columns seat, run_id, attempt, role, from_ns, to_ns, rank, trace_id, device and
        weight (how many GPUs it stands for: their rank is the lowest). [1]
    """
    apart = ["rank", "trace_id", "device"]
    ranks = known.drop_nulls().unique().collect().lazy()
    rows = allocations.select(*_ALIKE, *apart)
    is_traced = pl.col("trace_id").is_not_null()
    by_rank = ["run_id", "rank"]
    silent = rows.filter(~is_traced)
    told = silent.join(ranks, on=by_rank, how="semi")
    if not ranks.collect().is_empty():
        silent = silent.join(ranks, on=by_rank, how="anti")
    alike = silent.group_by(_ALIKE).agg(
        pl.col("rank").min(), weight=pl.len().cast(pl.Int64)
    )
    own = pl.concat([rows.filter(is_traced), told])
    seats = pl.concat([alike, own], how="diagonal").sort(*_ALIKE, *apart)
    return seats.with_columns(pl.col("weight").fill_null(1)).with_row_index(SEAT)


def at_seats(rows: pl.LazyFrame, seats: pl.LazyFrame) -> pl.LazyFrame:
    """Bring rows to the seat of their rank, or of their trace where none is known.

    Args:
        rows: Columns run_id, attempt and rank, and trace_id and device where the rows
            are of traces.
        seats: What `number_seats` returns.

    Returns:
        The rows that have a seat, without the columns that told which.
    """
    by_rank = [*_ATTEMPT, "rank"]
    ranks = seats.filter(pl.col("rank").is_not_null()).select(*by_rank, SEAT)
    found = rows.join(ranks, on=by_rank).drop(by_rank)
    if "trace_id" not in rows.collect_schema():
        return found
    by_trace = [*_ATTEMPT, "trace_id", "device"]
    traces = seats.filter(pl.col("rank").is_null()).select(*by_trace, SEAT)
    nameless = rows.filter(pl.col("rank").is_null()).drop("rank")
    others = nameless.join(traces, on=by_trace).drop(by_trace)
    return pl.concat([found.drop("trace_id", "device"), others], how="diagonal")


def own_seats(seats: pl.LazyFrame, known: pl.LazyFrame) -> pl.LazyFrame:
    """Return the seats that have evidence of their own, as `share_seats` returns all.

    Args:
        seats: What `number_seats` returns.
        known: Their numbers, in any number of rows.
    """
    found = seats.join(known.select(SEAT).unique(), on=SEAT, how="semi")
    return found.select(
        *[*_ALIKE, SEAT, "weight"],
        is_known=pl.lit(value=True),
        has_mean=pl.lit(value=False),
    )


def share_seats(
    seats: pl.LazyFrame, known: pl.LazyFrame, means: pl.LazyFrame
) -> pl.LazyFrame:
    """Make one seat of all GPUs of an attempt that are alike and have no evidence.

    Args:
        seats: What `number_seats` returns.
        known: Numbers of the seats that have evidence of their own; left out.
        means: Rows that tell the mean over a run: run_id and attempt.

    Returns:
        Columns seat, weight (how many GPUs it stands for), run_id, attempt, role,
        from_ns, to_ns, is_known (has evidence of its own) and has_mean (has the mean
        over the run for evidence).
    """
    has_mean = means.select(_ATTEMPT).unique().with_columns(has_mean=pl.lit(value=True))
    grouped = (
        seats.join(known.select(SEAT).unique(), on=SEAT, how="anti")
        .group_by(_ALIKE)
        .agg(pl.col(SEAT).min(), pl.col("weight").sum())
    )
    takes = pl.col("has_mean").fill_null(value=False) & (pl.col("role") == "rank")
    return grouped.join(has_mean, on=_ATTEMPT, how="left").select(
        *[*_ALIKE, SEAT, "weight"], is_known=pl.lit(value=False), has_mean=takes
    )
