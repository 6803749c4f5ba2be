"""Days that were condensed, joined, tell of a run what all of its steps do."""

from itertools import pairwise
from typing import Any

import polars as pl
import pytest

from analysis import Results
from analysis.gpus import Gpus
from analysis.stragglers import (
    StragglerEvidence,
    StragglerRanks,
    StragglerSteps,
    StragglerTests,
)
from ingest.tables import Failures, StepTimings, Table
from tests.analysis.condensed import condensed, joined
from tests.analysis.fleets import Times, found, healthy, seats, step_log, table

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
