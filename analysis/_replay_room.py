"""Lengths that cannot be: operations that outlast what begins after them.

Passes of a kind take turns on a rank, so that one has ended when the next of them
begins; other operations may be launched ahead, but have ended when those of their kind
begin in the next step. A profiler that wrote a wrong length is found by that, and the
step tells nothing then.
"""

from typing import Final

import polars as pl

from analysis._replay_kinds import PASSES
from analysis._replay_rows import UnfitTraceError

#: Starts and lengths of one rank are of one clock, but may be rounded. [ns]
ROUNDED_NS: Final = 10_000_000

#: The last operation of a kind has none after it: it cannot be right where it takes
#: so many times what all starts of its step span, and what its kind usually takes. [1]
OUTLASTS_FROM: Final = 10

#: Only operations that take so many times what their kind usually does are looked at,
#: and those that are longer than the starts of their step span. [1]
_SUSPECT_FROM: Final = 3

_STREAM: Final = ("rank", "kind")
_STEP: Final = ("step", *_STREAM)


def sound_steps(rows: pl.DataFrame) -> tuple[pl.DataFrame, tuple[int, ...]]:
    """Leave out steps in which an operation outlasts what begins after it.

    Args:
        rows: Seated rows of a trace.

    Returns:
        The rows of the other steps, and the steps that were left out.

    Raises:
        UnfitTraceError: If no step is left.
    """
    wrong = outlasting_steps(rows)
    if not len(wrong):
        return rows, ()
    kept = rows.filter(~pl.col("step").is_in(wrong.to_list()))
    if kept.is_empty():
        reason = "in every step an operation outlasts what begins after it"
        raise UnfitTraceError(reason)
    return kept, tuple(wrong.to_list())


def outlasting_steps(rows: pl.DataFrame) -> pl.Series:
    """Return the steps in which an operation outlasts what begins after it.

    Args:
        rows: Columns step, rank, kind, position (among those of a kind, rank and
            step), at_ns and duration_ns. [ns]
    """
    suspects = _suspects(rows)
    if suspects.is_empty():
        return suspects["step"]
    passes = rows.filter(pl.col("kind").is_in(PASSES))
    beside = passes.join(suspects, on=_STEP, how="semi")
    following = beside.select(*_STEP, pl.col("position") - 1, next_ns="at_ns")
    told = suspects.join(following, on=(*_STEP, "position"), how="left").join(
        _later_steps(rows, suspects), on=_STEP, how="left"
    )
    follows = pl.col("later_ns") >= pl.col("last_ns")
    later = pl.when(follows).then("later_ns")
    is_next = pl.col("next_ns").is_not_null() | (
        follows & (pl.col("later_step") == pl.col("step") + 1)
    ).fill_null(value=False)
    over = pl.col("duration_ns") - ROUNDED_NS > pl.coalesce("next_ns", later) - pl.col(
        "at_ns"
    )
    is_wrong = over.fill_null(value=False) | (~is_next & pl.col("is_endless"))
    return told.filter(is_wrong)["step"].unique().sort()


def _suspects(rows: pl.DataFrame) -> pl.DataFrame:
    """Return operations that are long for their kind, or for their step."""
    at, length = pl.col("at_ns"), pl.col("duration_ns")
    spans = rows.group_by("step").agg(span=at.max() - at.min())
    usual = rows.group_by("kind").agg(usual=length.median())
    most = pl.min_horizontal("span", _SUSPECT_FROM * pl.col("usual"))
    small = pl.max_horizontal(most, ROUNDED_NS)
    widest = OUTLASTS_FROM * pl.max_horizontal(pl.col("span").cast(float), "usual")
    known = rows.select(*_STEP, "position", "at_ns", "duration_ns")
    joined = known.join(spans, on="step").join(usual, on="kind")
    return joined.filter(length > small).with_columns(is_endless=length > widest)


def _later_steps(rows: pl.DataFrame, suspects: pl.DataFrame) -> pl.DataFrame:
    """Return when a kind begins on a rank in the next step, and the last start here.

    Times that begin anew with each step say nothing of the next one: it must begin
    after the last start of the rank in this one.
    """
    ranks = rows.join(suspects, on=("step", "rank"), how="semi")
    last = ranks.group_by("step", "rank").agg(last_ns=pl.col("at_ns").max())
    firsts = rows.filter(pl.col("position") == 0)
    mine = firsts.join(suspects, on=_STREAM, how="semi").sort(*_STREAM, "step")
    later = mine.select(
        *_STEP,
        later_step=pl.col("step").shift(-1).over(_STREAM),
        later_ns=pl.col("at_ns").shift(-1).over(_STREAM),
    )
    return later.join(last, on=("step", "rank"))
