"""Time between the steps of an attempt in which its run went back, without its end."""

from typing import Final

import polars as pl

from analysis._ledger_seats import SEAT

_ATTEMPT: Final = ("run_id", "attempt")

_START: Final = pl.col("start_ns")
_END: Final = pl.col("end_ns")


def find_returns(shown: pl.LazyFrame) -> pl.LazyFrame:
    """Find when each attempt went back to an earlier step while its job went on.

    A run can lose a node without the end of its job: its launcher starts the processes
    again, and they load a checkpoint. From the last step before to the first after it
    is restarting.

    Args:
        shown: What `shown_steps` returns, of step logs alone.

    Returns:
        Columns run_id, attempt, spell and last_step (the last before), next_spell and
        next_step (the first after), back_ns and on_ns, when the one ended and the other
        began. [ns]
    """
    bounds = shown.group_by(*_ATTEMPT, "spell").agg(
        first_step=pl.col("step").min(),
        last_step=pl.col("step").max(),
        begun_ns=_START.min(),
        ended_ns=_END.max(),
    )
    following = {"next_spell": "spell", "next_step": "first_step", "on_ns": "begun_ns"}
    shifted = [
        pl.col(column).shift(-1).over(_ATTEMPT).alias(name)
        for name, column in following.items()
    ]
    found = bounds.sort(*_ATTEMPT, "spell").with_columns(shifted)
    return found.filter(pl.col("on_ns").is_not_null()).select(
        *[*_ATTEMPT, "spell", "last_step", "next_spell", "next_step", "on_ns"],
        back_ns=pl.min_horizontal("ended_ns", "on_ns"),
    )


def split_gaps(
    gaps: pl.LazyFrame, returns: pl.LazyFrame
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Split gaps into what a restart explains, and the rest.

    A rank is restarting from its own row of the last step to its own of the first new
    one; where it has no such row, from when the attempt ended the one to when it began
    the other.

    Args:
        gaps: What `gaps` returns.
        returns: What `find_returns` returns.

    Returns:
        Pieces in which the attempt was restarting, and the others: seat, run_id,
        attempt, start_ns and end_ns. Together they are the gaps. [ns]
    """
    numbered = gaps.with_row_index("gap").collect().lazy()
    pieces = _pieces(numbered, returns).collect().lazy()
    columns = [SEAT, *_ATTEMPT, "start_ns", "end_ns"]
    edges = pl.concat(
        [
            pieces.select("gap", "start_ns", "end_ns"),
            numbered.select("gap", start_ns="end_ns", end_ns="end_ns"),
        ]
    ).sort("gap", "start_ns", "end_ns")
    before = pl.col("end_ns").shift(1).over("gap")
    between = edges.select("gap", begun=before, end_ns="start_ns")
    others = between.join(numbered.drop("end_ns"), on="gap").with_columns(
        start_ns=pl.coalesce("begun", "start_ns")
    )
    rest = others.filter(_START < _END).select(columns)
    return pieces.select(columns), rest


def _pieces(gaps: pl.LazyFrame, returns: pl.LazyFrame) -> pl.LazyFrame:
    """Return the parts of gaps in which their attempt was restarting."""
    before, after = pl.col("spell_before"), pl.col("spell_after")
    pairs = gaps.join(returns, on=list(_ATTEMPT)).filter(
        (before <= pl.col("spell")).fill_null(value=True),
        (after >= pl.col("next_spell")).fill_null(value=True),
    )
    own_last = (before == pl.col("spell")) & (
        pl.col("step_before") == pl.col("last_step")
    )
    own_first = (after == pl.col("next_spell")) & (
        pl.col("step_after") == pl.col("next_step")
    )
    begin = pl.when(own_last).then(_START).otherwise("back_ns")
    end = pl.when(own_first).then(_END).otherwise("on_ns")
    return pairs.with_columns(
        start_ns=begin.clip(_START, _END), end_ns=end.clip(_START, _END)
    ).filter(_START < _END)
