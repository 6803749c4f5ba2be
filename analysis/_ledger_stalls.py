"""Checkpoints that held up the training between two steps."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from analysis._ledger_seats import SEAT, at_seats
from analysis._windows import split_by_windows
from analysis.intervals import END, START
from ingest.tables import Checkpoints

_ATTEMPT: Final = ("run_id", "attempt")


def stalls_in_gaps(
    gaps: pl.LazyFrame, checkpoints: pl.LazyFrame, seats: pl.LazyFrame
) -> pl.LazyFrame:
    """Tell how much of each gap a checkpoint held the training up.

    Args:
        gaps: Columns seat, run_id, attempt, start_ns and end_ns.
        checkpoints: Rows of Checkpoints, each with its attempt. A row without a rank
            speaks for all.
        seats: What `number_seats` returns.

    Returns:
        The gaps with checkpoint_stall and unattributed, which add up to their length.
    """
    stalls = checkpoints.filter(Checkpoints.stall_ns.col > 0).select(
        *[*_ATTEMPT, "rank", START],
        (pl.col(START) + Checkpoints.stall_ns.col).alias(END),
    )
    of_all = stalls.filter(pl.col("rank").is_null()).drop("rank")
    of_one = at_seats(stalls.filter(pl.col("rank").is_not_null()), seats)
    numbered = gaps.with_row_index("gap").collect().lazy()
    both = numbered.join(
        _covered(numbered, of_all, _ATTEMPT), on="gap", how="left"
    ).join(_covered(numbered, of_one, (SEAT,)), on="gap", how="left", suffix="_own")
    stall = pl.max_horizontal("covered", "covered_own").fill_null(0)
    length = pl.col(END) - pl.col(START)
    return both.with_columns(checkpoint_stall=stall, unattributed=length - stall)


def _covered(
    gaps: pl.LazyFrame, stalls: pl.LazyFrame, by: Sequence[str]
) -> pl.LazyFrame:
    pieces = split_by_windows(
        gaps.select("gap", *by, START, END), _merged(stalls, by), by
    )
    length = pl.col(END) - pl.col(START)
    return pieces.group_by("gap").agg(covered=length.sum())


def _merged(intervals: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    """Join intervals of a group that meet, so that they share no time."""
    ordered = intervals.filter(pl.col(START) < pl.col(END)).sort(*by, START, END)
    reached = pl.col(END).cum_max().shift(1).over(by)
    opens = (pl.col(START) > reached).fill_null(value=True)
    numbered = ordered.with_columns(block=opens.cum_sum())
    return numbered.group_by(*by, "block").agg(pl.col(START).min(), pl.col(END).max())
