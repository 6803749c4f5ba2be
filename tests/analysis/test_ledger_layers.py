"""Accounts of a run that is kept by day, where ranks told no row of a step, or no part.

Nobody's evidence is taken for another's: what fewer ranks told counts for so many.
"""

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import _ledger_layers
from analysis._step_rollup_means import mean_steps
from analysis.lost_time import LostTime
from analysis.rank_hours import RankHours
from analysis.step_rollups import StepRollups
from ingest.tables import Jobs, StepTimings, Table
from ingest.times import SECOND_NS
from tests.analysis.drawn_steps import MIDNIGHT_NS, framed
from tests.analysis.ledgers import booked, job, rows
from tests.analysis.test_step_rollups import by_day, rolled
from tests.examples import examples

RANKS = 8

#: The ranks of a node whose logs are lost from some step on.
SILENT = frozenset({6, 7})

PARTS = {"compute_ns": 4, "communication_ns": 2, "wait_ns": 1, "data_ns": 1}


@st.composite
def told(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.LazyFrame]:
    """Steps of two jobs in lock-step, with ranks that told less, and the jobs."""
    moment = MIDNIGHT_NS - 60 * SECOND_NS
    steps: list[dict[str, Any]] = []
    jobs = []
    number = 0
    for attempt in range(2):
        begun, count = moment, draw(st.integers(3, 12))
        moment += 20 * SECOND_NS
        silent_from = draw(st.integers(0, count))
        for step in range(number, number + count):
            missing = draw(st.sets(st.integers(0, RANKS - 1), max_size=1))
            if step - number >= silent_from:
                missing = missing | SILENT
            bare = draw(st.sets(st.integers(0, RANKS - 1), max_size=2))
            for rank in sorted({*range(RANKS)} - missing):
                row = {"attempt": attempt, "step": step, "rank": rank}
                times = {"start_ns": moment, "duration_ns": 9 * SECOND_NS}
                parts = {name: share * SECOND_NS for name, share in PARTS.items()}
                steps.append(row | times | ({} if rank in bare else parts))
            moment += (9 + draw(st.sampled_from([0, 1]))) * SECOND_NS
        jobs.append(job(attempt, begun, moment + SECOND_NS, RANKS))
        number += count - 1
        moment += 30 * SECOND_NS
    return framed(steps), rows(Jobs, *({**one, "run_id": "r"} for one in jobs))


def accounts(tables: dict[type[Table], pl.LazyFrame]) -> pl.DataFrame:
    """What the ledger books, by attempt, day, account and evidence.

    Of a rank without a row of an attempt, jobs tell; by day it is one of which nothing
    tells in any of its steps.
    """
    booking = booked(tables)[LostTime].collect()
    is_silent = pl.col("category") == "unattributed"
    basis = pl.when(~is_silent).then("basis")
    told = booking.with_columns(basis=basis).group_by(LostTime.key)
    return told.agg(pl.col("gpu_ns").sum()).sort(LostTime.key)


def both(case: tuple[pl.DataFrame, pl.LazyFrame]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The accounts by the rows, and by what was kept of days."""
    log, jobs = case
    kept = {table: found.lazy() for table, found in rolled(by_day(log)).items()}
    means = mean_steps(kept[StepRollups])
    condensed = {
        StepTimings: means,
        StepRollups: kept[StepRollups],
        RankHours: kept[RankHours],
        Jobs: jobs,
    }
    return accounts({StepTimings: log.lazy(), Jobs: jobs}), accounts(condensed)


@settings(max_examples=examples(60))
@given(told())
def test_ranks_that_told_less_are_no_evidence(
    case: tuple[pl.DataFrame, pl.LazyFrame],
) -> None:
    by_rows, by_days = both(case)
    assert by_days.to_dicts() == by_rows.to_dicts()


@pytest.mark.thorough
@settings(max_examples=examples(60))
@given(told())
def test_of_more_layers_than_are_cut_less_is_evidence(
    case: tuple[pl.DataFrame, pl.LazyFrame],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_ledger_layers, "MOST_LAYERS", 1)
        by_rows, by_days = both(case)
    assert by_days["gpu_ns"].sum() == by_rows["gpu_ns"].sum()
    silent = [
        one.filter(pl.col("category") == "unattributed")["gpu_ns"].sum()
        for one in (by_rows, by_days)
    ]
    assert silent[1] >= silent[0]
