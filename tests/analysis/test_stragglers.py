"""Slow GPUs, hosts, replicas and stages are found; a healthy fleet flags nobody."""

from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis import Results
from analysis._straggler_work import plan_portions
from analysis.attempts import Attempts
from analysis.stragglers import (
    ANALYSIS,
    StragglerRanks,
    StragglerSteps,
    StragglerTests,
)
from ingest.tables import StepTimings
from tests.analysis.fleets import STEP_NS, Times, found, healthy, step_log, table


def slow(results: Results) -> list[dict[str, Any]]:
    return results[StragglerRanks].to_dicts()


def verdict(results: Results) -> dict[str, Any]:
    return results[StragglerTests].to_dicts()[0]


def search(work: Times, **told: Any) -> Results:
    return found((StepTimings, step_log(work, **told)))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("ranks", "steps"), [(5, 30), (16, 60), (128, 100)])
def test_a_healthy_fleet_flags_nobody(seed: int, ranks: int, steps: int) -> None:
    results = search(healthy(ranks, steps, seed))
    assert slow(results) == []
    assert verdict(results)["verdict"] == "tested"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_healthy_fleets_flag_nobody_over_many_seeds(seed: int) -> None:
    assert slow(search(healthy(64, 150, seed))) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_rank_12_percent_slow_is_found(seed: int) -> None:
    work = healthy(64, 60, seed)
    work[:, 5] *= 1.12
    (row,) = slow(search(work))
    assert (row["scope"], row["scope_id"], row["rank"]) == ("gpu", "rank 5", 5)
    # it would differ by 0.3 % if it were healthy, too
    assert row["slowdown_ratio"] == pytest.approx(1.12, abs=0.015)
    assert (row["first_step"], row["last_step"], row["steps_late"]) == (0, 59, 60)
    assert row["q_value"] < 0.01
    assert (row["cause"], row["evidence"]) == ("unknown", None)


def test_every_slow_rank_is_found_and_none_else() -> None:
    # no top of a list: three of 64
    work = healthy(64, 60, 1)
    work[:, [3, 17, 40]] *= [1.05, 1.2, 1.08]
    assert {row["rank"] for row in slow(search(work))} == {3, 17, 40}


def test_a_slowdown_that_healthy_gpus_show_is_not_flagged() -> None:
    work = healthy(64, 300, 2)
    work[:, 5] = np.exp(np.log(work[:, 5]) - np.log(work[:, 5]).mean()) * 1.015
    results = search(work)
    assert slow(results) == []
    assert verdict(results)["smallest_visible_ratio"] == pytest.approx(1.02)


@pytest.mark.parametrize("seed", range(3))
def test_a_spell_of_60_slow_steps_in_2000_is_found_and_dated(seed: int) -> None:
    work = healthy(32, 2_000, seed)
    work[905:965, 9] *= 1.12
    (row,) = slow(search(work))
    assert row["rank"] == 9
    assert abs(row["first_step"] - 905) <= 10
    assert abs(row["last_step"] - 964) <= 10
    assert row["slowdown_ratio"] == pytest.approx(1.12, abs=0.01)


def test_a_rank_that_turns_slow_half_way_is_dated() -> None:
    work = healthy(32, 400, 4)
    work[150:, 9] *= 1.1
    (row,) = slow(search(work))
    assert abs(row["first_step"] - 150) <= 10
    assert row["last_step"] == 399


def test_single_wild_steps_flag_nobody() -> None:
    # a pause of 3 s in every tenth step, each time on another rank
    work = healthy(32, 200, 5)
    steps = np.arange(0, 200, 10)
    work[steps, steps // 10] += 3
    assert slow(search(work)) == []


def test_what_a_drawn_fleet_loses_to_the_gpu() -> None:
    # eight ranks work 100, one 104 in every fifth step, one 120: a step takes 120
    work = np.full((40, 8), 100.0)
    work[::5, 0] = 104
    work[:, 3] = 120
    results = search(work / 100)
    (row,) = slow(results)
    fifth, other = results[StragglerSteps].head(2).to_dicts()
    # repaired it would take 104 or 100, for eight ranks; 104 is jitter
    unit = STEP_NS // 100
    assert fifth["lost_gpu_ns"] == 16 * 8 * unit
    assert other["lost_gpu_ns"] == 20 * 8 * unit
    assert (fifth["jitter_gpu_ns"], other["jitter_gpu_ns"]) == (4 * 8 * unit, 0)
    assert (fifth["slowest_rank"], fifth["typical_work_ns"]) == (3, STEP_NS)
    assert row["lost_gpu_ns"] == Decimal((8 * 16 + 32 * 20) * 8 * unit)


def test_gains_of_single_repairs_do_not_add() -> None:
    # 120 and 130 among 100: without the worst the step takes 120, without both 100
    work = np.full((40, 9), 100.0)
    work[:, 3], work[:, 4] = 120, 130
    results = search(work / 100)
    losses = {row["rank"]: row["lost_gpu_ns"] for row in slow(results)}
    unit = 40 * 9 * STEP_NS // 100
    assert losses == {3: 0, 4: 10 * unit}
    assert results[StragglerSteps]["lost_gpu_ns"].sum() == 30 * unit


def test_a_source_without_waits_cannot_tell() -> None:
    work = healthy(16, 60, 1)
    work[:, 5] *= 1.3
    results = search(work, wait_ns=None)
    assert slow(results) == []
    assert results[StragglerSteps].is_empty()
    told = verdict(results)
    assert (told["verdict"], told["ranks_untested"]) == ("no_waits", 16)


@pytest.mark.parametrize(
    ("ranks", "steps", "said"),
    [(4, 60, "too_few_peers"), (8, 20, "too_few_steps"), (8, 30, "tested")],
)
def test_what_cannot_be_tested_is_said(ranks: int, steps: int, said: str) -> None:
    told = verdict(search(healthy(ranks, steps, 1)))
    assert told["verdict"] == said
    assert told["ranks_tested"] == (ranks if said == "tested" else 0)
    assert told["steps_tested"] == steps


def test_means_of_a_run_never_enter() -> None:
    log = step_log(healthy(16, 60, 1)).with_columns(scope=pl.lit("run_mean"))
    told = verdict(found((StepTimings, log)))
    assert (told["verdict"], told["ranks_untested"]) == ("no_waits", 0)


def test_a_run_without_steps_is_said_to_have_none() -> None:
    attempt = {
        "run_id": "other",
        "attempt": 0,
        "basis": "jobs",
        "start_ns": 0,
        "end_ns": 9,
        "is_running": False,
    }
    results = found((Attempts, table(Attempts, pl.DataFrame([attempt]))))
    assert verdict(results)["verdict"] == "no_steps"
    assert slow(results) == []
    assert found()[StragglerTests].is_empty()


def test_portions_hold_whole_blocks_and_little_more_than_asked() -> None:
    # 16 ranks, blocks of 10 steps: 160 rows; the two blocks that begin before 300
    steps = pl.DataFrame(step_log(healthy(16, 100, 8))).lazy()
    plan = plan_portions(steps, block_steps=10, portion_rows=300)
    sizes = plan.group_by("portion").agg(pl.col("rows").sum(), pl.col("block").unique())
    assert sizes["rows"].sort().to_list() == [320] * 5
    assert sizes["block"].explode().len() == 10


@pytest.mark.thorough
def test_portions_do_not_change_the_answer() -> None:
    work = healthy(16, 100, 8)
    work[:, 5] *= 1.1
    log = step_log(work)
    whole = found((StepTimings, log))
    parts = found((StepTimings, log), portion_rows=150)
    for table_ in ANALYSIS.outputs:
        assert whole[table_].equals(parts[table_]), table_


def test_units_do_not_matter() -> None:
    work = healthy(16, 40, 9)
    work[:, 2] *= 1.2
    (row,) = slow(search(work))
    (scaled,) = slow(search(work * 37))
    assert scaled["slowdown_ratio"] == pytest.approx(row["slowdown_ratio"])


def test_a_step_that_is_told_twice_counts_once() -> None:
    log = step_log(healthy(16, 40, 9))
    once = found((StepTimings, log))
    twice = found((StepTimings, pl.concat([log, log])))
    assert once[StragglerSteps].equals(twice[StragglerSteps])
