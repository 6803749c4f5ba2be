"""Days that were condensed, joined, tell of a run what all of its steps do."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import polars as pl
import pytest

from analysis import Results
from analysis.gpus import Gpus
from analysis.straggler_days import StragglerDaysSpells
from analysis.stragglers import (
    StragglerEvidence,
    StragglerRanks,
    StragglerSteps,
    StragglerTests,
)
from ingest.tables import Failures, StepTimings, Table
from tests.analysis.condensed import condensed, joined
from tests.analysis.fleets import Times, found, healthy, seats, step_log, table
from tests.analysis.jobs_like_real import CALM, own_work

WHERE = seats(32, lambda rank: {"host": f"node-{rank // 8}", "gpu_uuid": f"GPU-{rank}"})

_SPELL = ["scope", "scope_id", "rank", "host", "attempt", "first_step", "last_step"]


def days_of(work: Times, *cuts: int, failures: pl.DataFrame | None = None) -> Results:
    """What is found in days that are cut at some steps."""
    log = step_log(work)
    edges = [0, *cuts, len(work)]
    others: list[tuple[type[Table], pl.DataFrame]] = [(Gpus, WHERE)]
    if failures is not None:
        others.append((Failures, failures))
    days = [
        condensed(
            log.filter(pl.col("step").is_between(first, last - 1)),
            *others,
            day=f"2023-11-{14 + number}",
        )
        for number, (first, last) in enumerate(pairwise(edges))
    ]
    return joined(days, (Gpus, WHERE))


def slow(results: Results) -> pl.DataFrame:
    return results[StragglerRanks].sort("scope_id", "first_step")


def test_a_spell_over_midnight_is_one() -> None:
    work = healthy(32, 900, 1)
    work[250:500, 7] *= 1.1
    (row,) = slow(days_of(work, 400)).to_dicts()
    assert row["scope_id"] == "GPU-7"
    assert (row["first_step"], row["last_step"], row["steps_late"]) == (250, 499, 250)


def test_what_is_slow_all_day_on_many_days_is_one_long_spell() -> None:
    work = healthy(32, 1200, 2)
    work[:, 7] *= 1.08
    rows = slow(days_of(work, 300, 600, 900))
    whole = found((StepTimings, step_log(work)), (Gpus, WHERE))[StragglerRanks]
    assert rows.select(_SPELL).equals(whole.select(_SPELL))
    assert rows["lost_gpu_ns"].to_list() == whole["lost_gpu_ns"].to_list()
    assert rows["slowdown_ratio"][0] == pytest.approx(1.08, abs=0.01)
    assert rows["q_value"][0] < 0.01


@pytest.mark.parametrize(
    ("before", "after"), [(18, 18), (14, 22), (45, 15), (15, 15), (6, 40), (28, 10)]
)
def test_a_spell_with_few_steps_at_one_side_of_midnight_is_whole(
    before: int, after: int
) -> None:
    work = healthy(32, 600, 1)
    work[315 - before : 315 + after, 7] *= 1.06
    results = days_of(work, 315)
    whole = found((StepTimings, step_log(work)), (Gpus, WHERE))
    (row,) = slow(results).to_dicts()
    assert (row["first_step"], row["last_step"]) == (315 - before, 314 + after)
    assert row["lost_gpu_ns"] == whole[StragglerRanks]["lost_gpu_ns"].item()
    assert results[StragglerSteps].equals(whole[StragglerSteps])


@pytest.mark.parametrize(("before", "after"), [(20, 0), (0, 20), (10, 12)])
def test_what_is_slow_about_midnight_for_too_few_steps_is_nothing(
    before: int, after: int
) -> None:
    work = healthy(32, 600, 1)
    work[310 - before : 310 + after, 7] *= 1.2
    results = days_of(work, 310)
    assert slow(results).is_empty()
    assert results[StragglerSteps]["lost_gpu_ns"].sum() == 0
    quiet = days_of(healthy(32, 600, 1), 310)[StragglerSteps]
    untouched = ~pl.col("step").is_between(310 - before, 309 + after)
    same = [one.filter(untouched) for one in (results[StragglerSteps], quiet)]
    assert same[0].equals(same[1])


@pytest.mark.parametrize("seed", [1, 2, 12])
def test_a_wild_last_step_of_a_day_is_no_spell(seed: int) -> None:
    wild = replace(CALM, outlier_share=5e-3)
    log = step_log(own_work(64, 400, 90_000 + seed, wild))
    day = log.filter(pl.col("step") < 100 + seed % 10)
    assert condensed(day)[StragglerDaysSpells].is_empty()


def test_a_host_with_few_steps_at_one_side_of_midnight_is_named() -> None:
    work = healthy(64, 600, 2)
    work[297:333, 8:16] *= 1.1
    log = step_log(work)
    where = seats(
        64, lambda rank: {"host": f"node-{rank // 8}", "gpu_uuid": f"GPU-{rank}"}
    )
    before = pl.col("step") < 315
    days = [
        condensed(log.filter(part), (Gpus, where), day=f"2023-11-{14 + number}")
        for number, part in enumerate((before, ~before))
    ]
    (row,) = slow(joined(days, (Gpus, where))).to_dicts()
    assert (row["scope_id"], row["first_step"], row["last_step"]) == (
        "node-1",
        297,
        332,
    )


def test_a_step_that_is_done_again_on_another_day_is_one() -> None:
    work = healthy(32, 400, 5)
    log = step_log(work)
    is_again = pl.col("step") >= 200
    again = log.filter(is_again).with_columns(pl.col("start_ns") + 10**15)
    days = [
        condensed(rows, (Gpus, WHERE), day=f"2023-11-{14 + number}")
        for number, rows in enumerate((log.filter(pl.col("step") < 300), again))
    ]
    results = joined(days, (Gpus, WHERE))
    whole = found((StepTimings, pl.concat([log, again])), (Gpus, WHERE))
    assert results[StragglerSteps].equals(whole[StragglerSteps])


def test_a_step_whose_ranks_are_parted_by_midnight_has_all_of_them() -> None:
    log = step_log(healthy(32, 400, 5))
    late = (pl.col("step") > 200) | ((pl.col("step") == 200) & (pl.col("rank") > 19))
    days = [
        condensed(log.filter(part), (Gpus, WHERE), day=f"2023-11-{14 + number}")
        for number, part in enumerate((~late, late))
    ]
    steps = joined(days, (Gpus, WHERE))[StragglerSteps]
    assert steps["ranks_seen"].to_list() == [32] * 400


def test_spells_of_two_days_that_do_not_touch_stay_two() -> None:
    work = healthy(32, 900, 3)
    work[100:250, 7] *= 1.1
    work[600:800, 7] *= 1.1
    rows = slow(days_of(work, 450))
    assert rows["first_step"].to_list() == [100, 600]
    assert rows["last_step"].to_list() == [249, 799]


def test_a_day_between_on_which_it_was_not_slow_parts_two_spells() -> None:
    work = healthy(32, 900, 4)
    work[:300, 7] *= 1.1
    work[600:, 7] *= 1.1
    rows = slow(days_of(work, 300, 600))
    assert rows["first_step"].to_list() == [0, 600]


def test_steps_and_tests_add_up() -> None:
    work = healthy(32, 600, 5)
    results = days_of(work, 200, 400)
    whole = found((StepTimings, step_log(work)), (Gpus, WHERE))
    assert results[StragglerSteps].equals(whole[StragglerSteps])
    (row,), (other,) = (one[StragglerTests].to_dicts() for one in (results, whole))
    assert {**row, "smallest_visible_ratio": 0} == {
        **other,
        "smallest_visible_ratio": 0,
    }


def test_evidence_is_of_the_day_that_has_it() -> None:
    work = healthy(32, 600, 6)
    work[:, 7] *= 1.1
    at = step_log(work).filter(pl.col("step") == 500)["start_ns"][0]
    told: dict[str, Any] = {
        "file_id": "log",
        "cluster": "pod",
        "host": "node-0",
        "gpu_key": "GPU-7",
    }
    told |= {"time_ns": at, "time_quality": "exact", "source": "xid", "code": "48"}
    told |= {"inferred": False, "line_count": 1, "occurrence": 0}
    event = table(Failures, pl.DataFrame(told))
    results = days_of(work, 300, failures=event)
    (row,) = slow(results).to_dicts()
    assert row["cause"] == "failure_events"
    rung = results[StragglerEvidence].filter(pl.col("cause") == "failure_events")
    assert rung["evidence"].to_list() == ["xid 48 (1) (so on 1 of its 2 days)"]
    assert rung["rows_count"].to_list() == [1]
