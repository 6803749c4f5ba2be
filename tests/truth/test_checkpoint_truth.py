"""The sample run saves each 25 steps: what its files tell of that."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.truth.conftest import Sample


def test_interval_and_stall_of_the_sample_are_those_put_in(sample: "Sample") -> None:
    (row,) = sample.sql("SELECT * FROM checkpoint_evidence").to_dicts()
    steps = sample.truth["checkpoint_steps"]
    assert (row["save_count"], row["interval_steps"]) == (len(steps), 25)
    assert row["interval_basis"] == row["stall_basis"] == "steps"
    # the truth counts the stalls of 16 ranks
    stall = sample.truth["gpu_ns"]["checkpoint"] / 16 / len(steps)
    assert row["stall_ns"] == pytest.approx(stall, rel=0.01)
    assert row["restart_basis"] == "interruptions"
    assert row["older_resume_count"] == 0


def test_a_replay_of_the_sample_undoes_what_it_did_again(sample: "Sample") -> None:
    query = "SELECT * FROM checkpoint_replays WHERE scenario = 'as_was'"
    (row,) = sample.sql(query).to_dicts()
    assert row["failure_count"] == 1
    # saves fall by time here and by steps there: a step more or less
    step = sample.sql("SELECT step_ns FROM checkpoint_evidence")["step_ns"].item()
    assert row["rework_ns"] == pytest.approx(row["seen_rework_ns"], abs=2 * step)


def test_the_sample_has_plans_a_curve_and_ways_to_write(sample: "Sample") -> None:
    plans = sample.sql("SELECT method, interval_ns FROM checkpoint_plans")
    known = dict(plans.drop_nulls().iter_rows())
    assert {"in_use", "young", "daly", "exact"} <= set(known)
    assert sample.sql("SELECT count(*) AS n FROM checkpoint_curves")["n"].item() > 50
    bursts = sample.sql("SELECT burst_ns FROM checkpoint_bursts")
    assert bursts["burst_ns"].null_count() == 0
