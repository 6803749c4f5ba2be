"""How a rank spent a step, from operations of which the waits are known."""

from typing import Final

import polars as pl

from analysis._ledger_gaps import blocked_by, gaps_of
from analysis._replay_kinds import (
    CLIP,
    DP_KINDS,
    EMBEDDING,
    LAYERNORM,
    OPTIMIZER,
    PASSES,
    PEERS,
)
from analysis._windows import split_by_windows
from analysis.intervals import END, START, union_ns

#: A step of a rank.
RANK_STEP: Final = ("step", "rank")

#: Kinds of operations by what a rank does in them: compute; wait for other replicas of
#: its stage; wait for other stages; move data with nobody that is seen.
_ROLES: Final = {
    **dict.fromkeys((*PASSES, OPTIMIZER), "compute"),
    **dict.fromkeys(DP_KINDS, "replicas"),
    **dict.fromkeys((*PEERS, EMBEDDING, CLIP), "stages"),
    LAYERNORM: "moves",
}

#: What is measured of a step. [ns]
MEASURES: Final = (
    *("replicas_ns", "stages_ns", "quiet_ns", "communication_ns", "compute_ns"),
)


def spent(rows: pl.LazyFrame, windows: pl.LazyFrame) -> pl.LazyFrame:
    """Say how each rank spent each step.

    A rank that has ended its operations before the last rank of the step waits for
    others until then: ranks leave a synchronous step together.

    Args:
        rows: Columns of RANK_STEP, kind, start_ns, end_ns and until_ns, when what it
            waited for had come: start_ns where no wait is known. [ns]
        windows: Columns of RANK_STEP, start_ns, end_ns and ended_ns, when the last rank
            ended its operations; one row for each rank and step. [ns]

    Returns:
        Columns of RANK_STEP and MEASURES: waits for replicas and for stages that no
        compute hides, time with nothing on between the first pass of any rank of the
        step and the last, the rest of what communication compute does not hide, and
        compute. The rest of the window is idle. [ns]
    """
    known = _clipped(rows, windows).collect().lazy()
    joined = windows
    for part in _parts(known, windows):
        joined = joined.join(part, on=list(RANK_STEP), how="left")
    sums = ("replicas_ns", "stages_ns", "quiet_ns", "told_ns", "seen_ns", "open_ns")
    return joined.with_columns(pl.col(sums).fill_null(0)).select(
        *[*RANK_STEP, "replicas_ns", "stages_ns", "quiet_ns"],
        communication_ns=pl.col("seen_ns") - pl.col("told_ns"),
        compute_ns=pl.col(END) - pl.col(START) - pl.col("open_ns"),
    )


def _parts(known: pl.LazyFrame, windows: pl.LazyFrame) -> tuple[pl.LazyFrame, ...]:
    """Return sums by rank and step, of those that have any."""
    by = list(RANK_STEP)
    computed = known.filter(pl.col("role") == "compute")
    others = known.filter(pl.col("role") != "compute")
    gaps = gaps_of(computed, windows, by).collect().lazy()
    both = pl.concat([others, _left_early(known, windows)], how="diagonal")
    held = blocked_by(both, gaps, by).collect().lazy()
    return (
        held.group_by(by).agg(
            replicas_ns=_of_role(("replicas",)),
            stages_ns=_of_role(("stages", "end")),
            told_ns=_of_role(("replicas", "stages")),
        ),
        split_by_windows(others, gaps, by).group_by(by).agg(seen_ns=union_ns()),
        gaps.group_by(by).agg(open_ns=(pl.col(END) - pl.col(START)).sum()),
        _quiet(known, both, gaps),
    )


def _of_role(roles: tuple[str, ...]) -> pl.Expr:
    length = pl.col(END) - pl.col(START)
    return length.filter(pl.col("role").is_in(roles)).sum()


def _quiet(known: pl.LazyFrame, on: pl.LazyFrame, gaps: pl.LazyFrame) -> pl.LazyFrame:
    """Return how long each rank had nothing on while passes of its step went on."""
    by = list(RANK_STEP)
    passes = known.filter("is_pass").group_by("step")
    bounds = passes.agg(pl.col(START).min(), pl.col(END).max())
    ranks = known.select(by).unique().join(bounds, on="step")
    inside = split_by_windows(gaps, ranks, by).select(*by, START, END)
    covered = split_by_windows(on.select(*by, START, END), inside, by)
    length = (pl.col(END) - pl.col(START)).sum()
    whole = inside.group_by(by).agg(inside_ns=length)
    both = whole.join(
        covered.group_by(by).agg(covered_ns=union_ns()), on=by, how="left"
    )
    left = pl.col("inside_ns") - pl.col("covered_ns").fill_null(0)
    return both.select(*by, quiet_ns=left)


def _clipped(rows: pl.LazyFrame, windows: pl.LazyFrame) -> pl.LazyFrame:
    """Give operations their role, and cut them at the bounds of their step."""
    role = pl.col("kind").replace_strict(
        list(_ROLES), list(_ROLES.values()), default=None, return_dtype=pl.String
    )
    bounds = windows.select(*RANK_STEP, _from=START, _to=END)
    is_pass = pl.col("kind").is_in(PASSES)
    named = rows.select(*RANK_STEP, START, END, "until_ns", role=role, is_pass=is_pass)
    joined = named.filter(pl.col("role").is_not_null()).join(bounds, on=list(RANK_STEP))
    times = [pl.col(name).clip("_from", "_to") for name in (START, END, "until_ns")]
    cut = joined.with_columns(times).filter(pl.col(START) < pl.col(END))
    return cut.drop("_from", "_to")


def _left_early(known: pl.LazyFrame, windows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the time of each rank from its last operation to the end of the others."""
    last = known.group_by(RANK_STEP).agg(pl.col(END).max().alias(START))
    waiting = windows.select(*RANK_STEP, pl.min_horizontal("ended_ns", END).alias(END))
    rows = last.join(waiting, on=list(RANK_STEP)).filter(pl.col(START) < pl.col(END))
    return rows.with_columns(until_ns=END, role=pl.lit("end"))
