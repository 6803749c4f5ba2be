"""Files of operations brought together: parts of one step, and times of one step.

Profilers write a file for each rank, for each flush, or one for all. Which file an
operation is in says nothing of the run: ranks that go through one step of one attempt
at one time are in it together.
"""

from typing import Final

import polars as pl

#: What tells one time of a step from another; `clock` is null on the calendar, and the
#: trace where times count from a moment of its own.
MOMENT: Final = ("run_id", "attempt", "clock", "step")

#: Share of what a file tells of a rank and step that others may have told by then, too,
#: if both are parts of it: what runs beside passes may be in the other file. [1]
SHARED_MAX: Final = 0.5


def clock_of(trace: str = "trace_id") -> pl.Expr:
    """Return the clock of an operation: its trace, null if the calendar dates it."""
    is_dated = pl.col("start_ns").is_not_null() & pl.col("offset_ns").is_null()
    return pl.when(~is_dated).then(trace)


def number_times(pieces: pl.LazyFrame) -> pl.LazyFrame:
    """Tell apart the times at which an attempt went through one and the same step.

    A step that is done again after a restart begins after all have left it, and later
    than it took any rank: within that, ranks that are apart are only out of balance.

    Args:
        pieces: What each rank has of a step: the columns of MOMENT, start_ns and
            end_ns. [ns]

    Returns:
        The pieces with `time`, counted from zero in each step.
    """
    by = list(MOMENT)
    ordered = pieces.sort(*by, "start_ns", "end_ns", nulls_last=True)
    longest = (pl.col("end_ns") - pl.col("start_ns")).max().over(by)
    reached = pl.col("end_ns").cum_max().shift(1).over(by)
    is_apart = pl.col("start_ns") - reached > longest
    is_again = is_apart.fill_null(value=False) & pl.col("clock").is_null()
    return ordered.with_columns(time=is_again.cast(pl.Int64).cum_sum().over(by))


def mark_copies(pieces: pl.LazyFrame, by: tuple[str, ...]) -> pl.LazyFrame:
    """Tell whether another file has told before what one tells of a rank and step.

    Args:
        pieces: What files tell of ranks and steps: the columns of `by`, start_ns and
            end_ns, null where nothing is dated. [ns]
        by: Columns of a rank and step.

    Returns:
        The pieces with `is_copy`: of two that begin together the shorter is, of equal
        ones any but the first.
    """
    length = pl.col("end_ns") - pl.col("start_ns")
    ordered = pieces.with_columns(_length=length).sort(
        *by, "start_ns", "_length", descending=[*[False] * (len(by) + 1), True]
    )
    shared = pl.col("end_ns").cum_max().shift(1).over(by) - pl.col("start_ns")
    is_told = (shared > 0) & (shared > pl.col("_length") * SHARED_MAX)
    return ordered.with_columns(is_copy=is_told.fill_null(value=False)).drop("_length")
