"""Runs that stop, from their raw tables to the phases of each loss."""

from typing import Final

import polars as pl

from analysis import QUESTIONS, Frames
from analysis.loss_phases import LossPhases
from analysis.lost_time import LostTime
from tests.analysis.ledgers import LEDGER, Tables

#: Analyses that the phases take, in order.
_CHAIN: Final = (*LEDGER[:-1], "hangs", "incidents", "interruptions", *LEDGER[-1:])


def lost(tables: Tables) -> Frames:
    """The tables, and all that the analyses make of them up to the phases."""
    known = dict(tables)
    by_name = {one.name: one for one in QUESTIONS}
    for name in (*_CHAIN, "loss_phases"):
        one = by_name[name]
        found = one.compute(Frames(known), one.thresholds)
        known |= {table: frame.lazy() for table, frame in found.items()}
    return Frames(known)


def check_phases_add_up(frames: Frames) -> None:
    """Hold the phases of each run against what its ledger booked."""
    booked = (
        frames[LostTime]
        .filter(LostTime.category.col.is_in(["restart", "recompute"]))
        .select("run_id", account="category", gpu_ns="gpu_ns")
    )
    told = frames[LossPhases].filter(LossPhases.account.col != "unattributed")
    assert sums(told) == sums(booked)


def sums(rows: pl.LazyFrame) -> dict[tuple[str, str], int]:
    total = pl.col("gpu_ns").cast(pl.Int128).sum()
    found = rows.group_by("run_id", "account").agg(total).filter(pl.col("gpu_ns") > 0)
    return {(run, account): n for run, account, n in found.collect().iter_rows()}


def phases(frames: Frames) -> dict[str, tuple[int | None, int | None]]:
    """Length and GPU time of each phase of the only stop; None: not known. [ns]"""
    rows = frames[LossPhases].select("phase", "duration_ns", "gpu_ns").collect()
    return {
        phase: (took, None if paid is None else int(paid))
        for phase, took, paid in rows.iter_rows()
    }
