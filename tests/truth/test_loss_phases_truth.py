"""Phases of the sample's loss are what the sample was made with."""

from typing import TYPE_CHECKING

import pytest

pytestmark = pytest.mark.thorough

if TYPE_CHECKING:
    from tests.truth.conftest import Sample


def test_phases_add_up_to_the_restart_and_recompute_put_in(sample: "Sample") -> None:
    run_id = sample.truth["run_id"]
    found = sample.sql(
        "SELECT account, CAST(sum(gpu_ns) AS HUGEINT) AS gpu_ns FROM loss_phases"
        f" WHERE run_id = '{run_id}' AND account IS NOT NULL GROUP BY account"
    )
    told = {account: int(gpu_ns) for account, gpu_ns in found.iter_rows()}
    wanted = sample.truth["gpu_ns"]
    assert told == {name: wanted[name] for name in ("restart", "recompute")}


def test_phases_last_as_long_as_the_truth_says(sample: "Sample") -> None:
    first, second = sample.truth["attempts"]
    rows = sample.sql(
        "SELECT phase, duration_ns FROM loss_phases WHERE stop IS NOT NULL"
        f" AND run_id = '{sample.truth['run_id']}'"
    )
    took = dict(rows.iter_rows())
    lost = first["end_ns"] - first["last_step_end_ns"]
    assert took["hang"] + took["detect"] == lost
    sign = sample.truth["failure"]["time_ns"]
    assert abs(took["hang"] - (sign - first["last_step_end_ns"])) < 1_000_000
    assert took["decide"] == second["submit_ns"] - first["end_ns"]
    assert took["requeue"] == second["start_ns"] - second["submit_ns"]
    assert took["start"] == second["first_step_start_ns"] - second["start_ns"]
