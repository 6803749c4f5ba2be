"""What no repair can save: more than was paid, than steps scatter, than is known."""

from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import numpy as np
import polars as pl
import pytest

from analysis._whatif_intervals import interval
from analysis._whatif_paid import Paid, why_too_much
from analysis.allocations import Allocations
from ingest.synthetic.pipeline import Pipeline, SlowWorker, operations, simulate
from ingest.tables import Operations, StepTimings
from tests.analysis.fleets import START_NS, table
from tests.analysis.repaired import MS, ask, nightly, steps_of

PLAN: Final = Pipeline(stages=2, microbatches=4, replicas=6, steps=6, sd=0.01)
SLOW: Final = replace(PLAN, faults=(SlowWorker(dp_rank=2, stage=1, ratio=1.2),))

#: The rank of that worker: six replicas of stage 0 come first.
RANK: Final = "rank=8"


def traced(plan: Pipeline, **told: Any) -> pl.DataFrame:
    rows = operations(simulate(plan)).with_columns(run_id=pl.lit("run"))
    return Operations.validate(
        rows.with_columns(**{name: pl.lit(one) for name, one in told.items()}),
        cast=True,
    )


def undated(plan: Pipeline, trace_id: str) -> pl.DataFrame:
    rows = operations(simulate(plan), is_dated=False).with_columns(
        run_id=pl.lit("run"), trace_id=pl.lit(trace_id)
    )
    return Operations.validate(rows, cast=True)


def paid(ranks: int, length_ns: int) -> tuple[type[Allocations], pl.DataFrame]:
    rows = [
        {
            "run_id": "run",
            "attempt": 0,
            "rank": rank,
            "slot": rank,
            "from_ns": START_NS,
            "to_ns": START_NS + length_ns,
            "role": "rank",
        }
        for rank in range(ranks)
    ]
    return Allocations, table(Allocations, pl.DataFrame(rows))


def test_nobody_saves_more_than_was_paid() -> None:
    log = (StepTimings, steps_of([[10, 10, 10, 10, 10, 9_000_000_000]] * 2))
    row = ask(["rank=5"], log, paid(6, 3 * 1000 * MS))[0]["rank=5"]
    assert not row["is_reliable"]
    assert "a step is longer than the whole run was" in row["doubt"]
    usual = (StepTimings, steps_of([[10, 10, 10, 10, 10, 90]] * 2))
    row = ask(["rank=5"], usual, paid(6, 200 * MS))[0]["rank=5"]
    assert row["is_reliable"]
    row = ask(["rank=5"], usual, paid(1, 200 * MS))[0]["rank=5"]
    assert "it would save more than the run paid for" in row["doubt"]
    assert why_too_much(None, 2**70, 2**70) == ""
    assert why_too_much(Paid(10, 10), 10, 11) == ""


def test_steps_beyond_what_a_table_holds_do_not_wrap() -> None:
    # steps of a year, in ms: 300 of them are more than 63 bits of ns
    most = 365 * 86_400_000
    log = (StepTimings, steps_of([[10, 10, most]] * 300))
    row = ask(["rank=2"], log, paid(3, 1000 * MS))[0]["rank=2"]
    assert row["actual_ns"] is None
    assert row["saved_gpu_ns"] == Decimal(300 * 3 * (most - 10) * MS)
    assert not row["is_reliable"]


def test_a_step_in_two_traces_counts_once() -> None:
    alone, _ = ask([RANK], (Operations, undated(SLOW, "a")))
    both = pl.concat([undated(SLOW, "a"), undated(replace(SLOW, seed=9), "b")])
    twice, _ = ask([RANK], (Operations, both))
    assert twice[RANK] == alone[RANK]
    # the fuller trace counts, where one has more of a step; others add their own
    more = undated(replace(SLOW, seed=9, steps=8, microbatches=6), "b")
    longest, _ = ask([RANK], (Operations, more))
    mixed, _ = ask([RANK], (Operations, pl.concat([undated(SLOW, "a"), more])))
    assert mixed[RANK] == longest[RANK]
    assert mixed[RANK]["steps"] == 8


def test_a_small_fault_in_many_steps_is_beyond_noise() -> None:
    # a tenth: the job hardly straggles, but the worker is slow step after step
    plan = replace(PLAN, faults=(SlowWorker(dp_rank=2, stage=1, ratio=1.08),))
    answers, _ = ask(
        [RANK, "rank=7", "workers=slowest", "everything"], (Operations, traced(plan))
    )
    assert answers["everything"]["slowdown_ratio"] < 1.1
    for text in (RANK, "workers=slowest"):
        assert answers[text]["is_beyond_noise"]
        assert answers[text]["doubt"] is None
    assert not answers["rank=7"]["is_beyond_noise"]
    assert "no more than healthy scatter" in answers["rank=7"]["doubt"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("stages", [1, 2])
def test_of_healthy_workers_the_slowest_is_no_repair(stages: int, seed: int) -> None:
    plan = replace(PLAN, stages=stages, replicas=8, sd=0.06, steps=3, seed=seed)
    answers = nightly((Operations, traced(plan)))
    worth = [
        name
        for name, row in answers.items()
        if row["is_beyond_noise"] and not row["is_bound"]
    ]
    assert worth == []


def test_the_usual_of_a_joint_repair_is_that_of_what_is_repaired() -> None:
    plan = replace(PLAN, faults=(SlowWorker(dp_rank=2, stage=1, ratio=5.0),))
    texts = [RANK, "workers=slowest", "kind=forward-compute", "everything"]
    answers, _ = ask(texts, (Operations, traced(plan)))
    (joint,) = (row for row in answers.values() if row["is_joint"])
    best = max(answers[text]["saved_gpu_ns"] for text in texts)
    assert best > answers["everything"]["saved_gpu_ns"]
    assert "a single repair can save more" in answers["everything"]["assumption"]
    assert float(joint["saved_gpu_ns"]) > 0.995 * float(best)


def test_where_a_replay_is_far_off_there_is_no_number() -> None:
    rows = traced(PLAN).with_columns(
        start_ns=pl.lit(START_NS, pl.Int64), duration_ns=pl.lit(MS, pl.Int64)
    )
    for row in nightly((Operations, rows)).values():
        assert row["saved_gpu_ns"] is None
        assert row["repaired_ns"] is None
        assert not row["is_reliable"]
        assert not row["is_beyond_noise"]
        assert row["doubt"]


def test_steps_without_length_say_so() -> None:
    row = ask(["rank=0"], (StepTimings, steps_of([[0, 0, 0]])))[0]["rank=0"]
    assert row["saved_gpu_ns"] is None
    assert "steps take no time: there is nothing to save of" in row["doubt"]
    assert "unknown" not in row["doubt"]


def test_replicas_left_out_make_transfers_doubtful() -> None:
    odd = (pl.col("dp_rank") == 0) & (pl.col("microbatch") == 3)
    rows = traced(SLOW).filter(~odd.fill_null(value=False))
    answers, _ = ask(["communication", "communication=dp", RANK], (Operations, rows))
    for text in ("communication", "communication=dp"):
        assert not answers[text]["is_reliable"]
        assert "a replica was left out of the replay" in answers[text]["doubt"]
    assert answers[RANK]["is_reliable"]


def test_an_interval_is_as_wide_as_steps_scatter() -> None:
    # six blocks of ten steps: their sums hardly differ, their steps do
    rng = np.random.default_rng(1)
    drawn = rng.normal(100, 30, (6, 10)).round()
    steps = drawn + (100 - drawn.mean(axis=1, keepdims=True))
    sums = steps.sum(axis=1)
    blocks = pl.DataFrame(
        {
            "steps": [10] * 6,
            "saved_gpu_ns": pl.Series(sums.round().astype(int), dtype=pl.Int128),
            "saved_squared": (steps**2).sum(axis=1),
        }
    )
    low, high = interval(blocks)
    assert low is not None
    assert high is not None
    # Student's t of 59 degrees of freedom is 2.00
    expected = 2.00 * steps.std(ddof=1) * 60**0.5
    assert float(high - low) / 2 == pytest.approx(expected, rel=0.02)
    assert interval(blocks.head(4)) == (None, None)


def test_few_blocks_are_held_to_students_t() -> None:
    blocks = pl.DataFrame(
        {
            "steps": [1] * 5,
            "saved_gpu_ns": pl.Series([90, 95, 100, 105, 110], dtype=pl.Int128),
            "saved_squared": [float(one**2) for one in (90, 95, 100, 105, 110)],
        }
    )
    # sd 7.906, of five: 2.776 times sd times the root of 5
    assert interval(blocks) == (Decimal(500 - 49), Decimal(500 + 49))
