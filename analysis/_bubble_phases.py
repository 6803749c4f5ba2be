"""Time in which the stages of a pipeline compute nothing, by phase of the schedule."""

from typing import Final

import polars as pl

from analysis._ordering import order_of
from analysis._replay_kinds import BACKWARD, FORWARD
from analysis.intervals import END, START

#: A step of a replica; lanes are ranks that share a stage.
CELL: Final = ("step", "dp_rank", "lane")

#: A stage in it.
STAGE: Final = (*CELL, "pp_rank")

#: Parts of a pipeline's time, which add up to its length. [ns]
PARTS: Final = ("warm_up_ns", "steady_ns", "cool_down_ns", "compute_ns")


def split_phases(passes: pl.DataFrame) -> pl.DataFrame:
    """Split the time of each stage in the pipeline of its replica.

    A pipeline lasts from the first pass forward of any stage to the end of the last
    pass backward of any. A stage warms up until its first pass backward, is steady
    until its last pass forward has ended, and cools down after both. Passes of a stage
    take turns: where two overlap, by clocks or rounding, the time counts once.

    Args:
        passes: Columns of STAGE, rank (one for each stage, replica and lane), kind,
            start_ns and end_ns.

    Returns:
        Columns of STAGE and PARTS. [ns]
    """
    single = _in_turn(_by_seat(passes))
    seats = _edges(single)
    number = single["seat"]
    told = single.with_columns(seats[name].gather(number) for name in _EDGES)
    phases = tuple(zip(PARTS[:3], _EDGES[:3], _EDGES[1:], strict=True))
    busy = told.group_by("seat").agg(
        _busy(pl.col(since), pl.col(until)).alias(name) for name, since, until in phases
    )
    known = seats.join(busy, on="seat")
    idle = {
        name: pl.col(until) - pl.col(since) - pl.col(name)
        for name, since, until in phases
    }
    return known.with_columns(**idle).select(*STAGE, *PARTS)


#: Times at which the phases of a stage begin and end.
_EDGES: Final = ("begun", "turn", "late", "ended")


def _by_seat(passes: pl.DataFrame) -> pl.DataFrame:
    """Number the ranks of each step, and sort their passes: by integers alone."""
    rank = pl.col("rank").rank("dense").cast(pl.Int64)
    step = pl.col("step").rank("dense").cast(pl.Int64)
    place = passes.select(place=step * (rank.max() + 1) + rank, start=START, end=END)
    keys = [place[name].to_numpy() for name in ("place", "start", "end")]
    ordered = passes.with_columns(place["place"])[order_of(*keys)]
    changed = pl.col("place") != pl.col("place").shift(1)
    seat = changed.fill_null(value=False).cast(pl.Int64).cum_sum()
    return ordered.with_columns(seat=seat).drop("place")


def _in_turn(ordered: pl.DataFrame) -> pl.DataFrame:
    """Let no pass begin before those of its seat that began earlier have ended."""
    reached = pl.col(END).cum_max().shift(1).over("seat")
    single = ordered.with_columns(
        pl.max_horizontal(START, reached).alias(START), first=pl.col(START)
    )
    return single.with_columns(pl.max_horizontal(START, END).alias(END), last=END)


def _edges(single: pl.DataFrame) -> pl.DataFrame:
    """Return the phases of each seat, in order of their numbers."""
    is_forward, is_backward = (pl.col("kind") == one for one in (FORWARD, BACKWARD))
    seats = single.group_by("seat").agg(
        pl.col(STAGE).first(),
        pl.col("first").min(),
        pl.col("last").max(),
        turn=pl.col(START).filter(is_backward).min(),
        until=pl.col(END).filter(is_forward).max(),
        compute_ns=(pl.col(END) - pl.col(START)).sum(),
    )
    cells = seats.group_by(CELL).agg(
        begun=pl.col("first").min(), ended=pl.col("last").max()
    )
    joined = seats.join(cells, on=CELL).with_columns(pl.coalesce("turn", "ended"))
    return joined.with_columns(late=pl.max_horizontal("turn", "until")).sort("seat")


def _busy(since: pl.Expr, until: pl.Expr) -> pl.Expr:
    """Return an aggregation: how long passes last between two times. [ns]"""
    start, end = pl.max_horizontal(START, since), pl.min_horizontal(END, until)
    return (end - start).clip(0).sum()


def bubble_ns() -> pl.Expr:
    """Return the bubble: all phases together. [ns]"""
    return pl.sum_horizontal(PARTS[:3])
