"""Ratios of runs that are drawn by hand. Times in ns, one GPU unless it says more."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import Frames
from analysis._goodput_steps import count_steps, logged_steps, step_starts
from analysis.goodput import ANALYSIS, Goodput
from analysis.goodput_days import ANALYSIS as DAYS
from analysis.goodput_days import GoodputDays
from analysis.interruptions import ANALYSIS as INTERRUPTIONS
from analysis.lost_time import LostTime
from ingest.tables import Jobs, Kernels, RunCards, StepTimings, Table
from tests.analysis.ledgers import Row, Tables, booked, job, rows, step

CARD: Row = {
    "active_parameters": 1e9,
    "tokens_per_step": 1_000,
    # 6 x 1e9 x 1,000 tokens are 6e12 FLOPs: in 10 ns on one GPU 6e20 FLOP/s
    "peak_tflops": 1e9,
}


def measured(tables: Tables) -> Row:
    frames = booked(tables)
    known: dict[type[Table], Any] = {
        table: frames[table] for table in (*ANALYSIS.inputs, *INTERRUPTIONS.inputs)
    }
    for one in (INTERRUPTIONS, ANALYSIS):
        found = one.compute(Frames(known), one.thresholds)
        known |= {table: frame.lazy() for table, frame in found.items()}
    (row,) = known[Goodput].collect().to_dicts()
    return dict(row)


#         queue         start     steps                 stop  queue       start
#   0       10            20        1    2    3    4           80    90     100  3   4
#   |submit |-----------  |-- load -|====|====|====|====|-----|     |      |--|===|===|
#                         20       30   40   50   60   70    80    90    100 110 120 130
STEPPED = [
    *(step(0, number, 20 + 10 * number, 30 + 10 * number) for number in (1, 2, 3, 4)),
    step(0, 3, 110, 120),
    step(0, 4, 120, 130),
]
JOBS = [
    job(1, 20, 80, 1) | {"submit_ns": 10},
    job(2, 100, 130, 1) | {"submit_ns": 90, "state": "COMPLETED"},
]
TABLES: Tables = {
    Jobs: rows(Jobs, *JOBS),
    StepTimings: rows(StepTimings, *STEPPED),
    RunCards: rows(RunCards, CARD),
}


def test_each_ratio_has_its_own_denominator() -> None:
    row = measured(TABLES)
    # kept: 1, 2 and the second 3, 4; from 10 to 130, queues 10..20 and 90..100
    assert (row["wall_ns"], row["elapsed_ns"], row["queue_ns"]) == (120, 110, 20)
    assert row["training_ns"] == 40
    assert (row["steps_kept"], row["steps_repeated"]) == (4, 2)
    assert row["ettr_ratio"] == pytest.approx(40 / 120)
    assert row["ettr_without_queue_ratio"] == pytest.approx(40 / 100)
    assert row["effective_training_ratio"] == pytest.approx(40 / 110)
    # paid 60 + 30
    assert row["goodput_ratio"] == row["training_ratio"] == pytest.approx(40 / 90)
    assert row["is_upper_bound"]
    assert (row["interruptions_count"], row["planned_count"]) == (1, 0)


def test_googles_steps_last_until_the_next_one() -> None:
    # 1 from 30 to 40, 2 from 40 to 50; 3 and 4 come again; 3 from 110 to 120
    assert measured(TABLES)["google_goodput_ratio"] == pytest.approx(30 / 110)


def test_a_restart_without_a_repeated_step_hides_from_google() -> None:
    later = [step(0, 5, 110, 120), step(0, 6, 120, 130)]
    tables: Tables = {**TABLES, StepTimings: rows(StepTimings, *STEPPED[:4], *later)}
    row = measured(tables)
    # the stop from 70 to 110 is part of step 4: 1 to 5 last from 30 to 120
    assert row["google_goodput_ratio"] == pytest.approx(90 / 110)
    assert row["ettr_ratio"] == pytest.approx(60 / 120)
    assert (row["steps_kept"], row["steps_repeated"]) == (6, 0)


def test_mfu_is_of_the_time_in_steps_and_of_all_that_was_paid() -> None:
    row = measured(TABLES)
    # 4 steps of 1,000 tokens: 2.4e13 FLOPs; 1e21 FLOP/s x 40 ns are 4e13, x 90 ns 9e13
    assert row["tokens"] == 4_000
    assert row["mfu_ratio"] == pytest.approx(2.4 / 4)
    assert row["paid_mfu_ratio"] == pytest.approx(2.4 / 9)
    assert row["mfu_reason"] is None


@pytest.mark.parametrize(
    ("left_out", "reason"),
    [
        ("active_parameters", "no parameters"),
        ("tokens_per_step", "no tokens"),
        ("peak_tflops", "no peak"),
    ],
)
def test_mfu_is_null_with_its_reason(left_out: str, reason: str) -> None:
    card = {name: value for name, value in CARD.items() if name != left_out}
    row = measured({**TABLES, RunCards: rows(RunCards, card)})
    assert (row["mfu_ratio"], row["mfu_reason"]) == (None, reason)


def test_more_than_the_peak_cannot_be() -> None:
    row = measured({**TABLES, RunCards: rows(RunCards, CARD | {"peak_tflops": 1e8})})
    assert (row["mfu_ratio"], row["mfu_reason"]) == (None, "above the peak")


def test_jobs_alone_tell_of_no_useful_work_and_not_of_none() -> None:
    row = measured({Jobs: TABLES[Jobs]})
    assert row["unknown_reason"] == row["mfu_reason"] == "no steps"
    assert row["wall_ns"] == 120
    for name in ("ettr_ratio", "goodput_ratio", "productive_gpu_ns", "training_ns"):
        assert row[name] is None, name


def test_traces_are_samples() -> None:
    kernels = [
        {"rank": 0, "step": number, "start_ns": 30 + number, "duration_ns": 1}
        for number in range(3)
    ]
    row = measured({Jobs: TABLES[Jobs], Kernels: rows(Kernels, *kernels)})
    assert row["ettr_ratio"] is None
    assert row["unknown_reason"] in {"no steps", "traces are samples"}


def test_a_rank_that_speaks_for_many_is_mostly_unattributed() -> None:
    more = [one | {"gpu_count": 8} for one in JOBS]
    tables: Tables = {**TABLES, Jobs: rows(Jobs, *more)}
    row = measured(tables)
    assert row["unknown_reason"] == "mostly unattributed"
    assert row["ettr_ratio"] is None
    assert row["mfu_ratio"] is not None


def test_rollback_inside_an_attempt_counts_steps_once() -> None:
    # 1 2 3 | 2 3 4 in one job
    again = [step(0, 2, 70, 80), step(0, 3, 80, 90), step(0, 4, 90, 100)]
    log = [*STEPPED[:3], *again]
    tables = {
        Jobs: rows(Jobs, job(1, 20, 100, 1)),
        StepTimings: rows(StepTimings, *log),
    }
    row = measured(tables)
    assert (row["steps_kept"], row["steps_repeated"]) == (4, 2)


def test_days_hold_what_the_ledger_books() -> None:
    frames = booked(TABLES)
    found = DAYS.compute(frames, DAYS.thresholds)[GoodputDays]
    (row,) = found.to_dicts()
    assert row["day"] == "1970-01-01"
    assert (int(row["paid_gpu_ns"]), int(row["productive_gpu_ns"])) == (90, 40)
    assert row["goodput_ratio"] == pytest.approx(40 / 90)


ORDERED = st.lists(st.integers(0, 9), min_size=1, max_size=12)


@pytest.mark.thorough
@given(ORDERED, st.integers(1, 3))
def test_steps_are_kept_or_repeated_whatever_the_order(
    numbers: list[int], ranks: int
) -> None:
    log = [
        step(rank, number, 10 * place, 10 * place + 10)
        for place, number in enumerate(numbers)
        for rank in range(ranks)
    ]
    tables = {
        Jobs: rows(Jobs, job(1, 0, 10 * len(numbers), ranks)),
        StepTimings: rows(StepTimings, *log),
    }
    frames = booked(tables, last="overlap")
    steps = logged_steps(frames)
    (counts,) = count_steps(steps).to_dicts()
    assert counts["steps_kept"] + counts["steps_repeated"] == len(numbers)
    # a kept step is done once, and all that were done last are kept
    kept = steps.filter("is_kept")["step"]
    assert kept.n_unique() == kept.len()
    assert set(kept) == _survivors(numbers)
    google = step_starts(steps)["google_productive_ns"][0] or 0
    assert 0 <= google <= 10 * len(numbers)


def _survivors(numbers: list[int]) -> set[int]:
    """Steps that are in place at the end: a step undoes all from its number on."""
    done: list[int] = []
    for number in numbers:
        done = [one for one in done if one < number] + [number]
    return set(done)


def test_ledger_and_goodput_agree_on_what_was_redone() -> None:
    frames = booked(TABLES)
    lost = frames[LostTime].filter(pl.col("category") == "recompute").collect()
    steps = logged_steps(frames).filter(~pl.col("is_kept"))
    assert int(lost["gpu_ns"].sum()) == int(steps["taken_ns"].sum())
