"""Time in which the stages of a pipeline compute nothing, by phase of the schedule."""

from typing import Final

import polars as pl

from analysis._replay_kinds import BACKWARD, FORWARD
from analysis.intervals import END, START

#: A step of a replica; lanes are ranks that share a stage.
CELL: Final = ("step", "dp_rank", "lane")

#: A stage in it.
STAGE: Final = (*CELL, "pp_rank")

#: Parts of a pipeline's time, which add up to its length. [ns]
PARTS: Final = ("warm_up_ns", "steady_ns", "cool_down_ns", "compute_ns")


def split_phases(passes: pl.LazyFrame) -> pl.LazyFrame:
    """Split the time of each stage in the pipeline of its replica.

    A pipeline lasts from the first pass forward of any stage to the end of the last
    pass backward of any. A stage warms up until its first pass backward, is steady
    until its last pass forward has ended, and cools down after both. Passes of a stage
    take turns: where two overlap, by clocks or rounding, the time counts once.

    Args:
        passes: Columns of STAGE, kind, start_ns and end_ns.

    Returns:
        Columns of STAGE and PARTS. [ns]
    """
    ordered = passes.sort(*STAGE, START, END)
    reached = pl.col(END).cum_max().shift(1).over(STAGE)
    single = ordered.with_columns(
        pl.max_horizontal(START, reached).alias(START),
        begun=pl.col(START).min().over(CELL),
        ended=pl.col(END).max().over(CELL),
    ).with_columns(pl.max_horizontal(START, END).alias(END))
    turn = pl.col(START).filter(pl.col("kind") == BACKWARD).min()
    last = pl.col(END).filter(pl.col("kind") == FORWARD).max()
    phased = single.with_columns(
        turn=pl.coalesce(turn.over(STAGE), "ended"), last=last.over(STAGE)
    ).with_columns(late=pl.max_horizontal("turn", "last"))
    edges = ("begun", "turn", "late", "ended")
    names = zip(PARTS[:3], edges[:3], edges[1:], strict=True)
    idle = {
        name: pl.col(until).first()
        - pl.col(since).first()
        - _busy(pl.col(since), pl.col(until))
        for name, since, until in names
    }
    computed = (pl.col(END) - pl.col(START)).sum()
    return phased.group_by(STAGE).agg(**idle, compute_ns=computed)


def _busy(since: pl.Expr, until: pl.Expr) -> pl.Expr:
    """Return an aggregation: how long passes last between two times. [ns]"""
    start, end = pl.max_horizontal(START, since), pl.min_horizontal(END, until)
    return (end - start).clip(0).sum()


def bubble_ns() -> pl.Expr:
    """Return the bubble: all phases together. [ns]"""
    return pl.sum_horizontal(PARTS[:3])
