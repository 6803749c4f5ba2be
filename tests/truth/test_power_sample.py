"""What is said of the sample's power is what was put in, and adds up."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.truth.conftest import Sample


def test_the_capped_gpu_is_the_one_that_was_slowed(sample: "Sample") -> None:
    truth = sample.truth["straggler"]
    (row,) = sample.sql(
        "SELECT t.*, g.rank FROM throttling t JOIN gpus g USING (run_id, gpu_uuid)"
        " WHERE throttled_ratio >= 0.05 AND g.attempt = 0"
    ).rows(named=True)
    assert (row["rank"], row["cause"], row["basis"]) == (
        truth["rank"],
        "power_cap",
        "counter",
    )
    assert row["is_straggler"]
    lost = sample.sql("SELECT sum(lost_gpu_ns) AS lost FROM straggler_ranks")
    assert row["lost_gpu_ns"] == lost["lost"][0]


def test_the_energy_of_the_run_is_that_of_its_gpus(sample: "Sample") -> None:
    (row,) = sample.sql(
        "SELECT r.*, (SELECT sum(energy_j) FROM energy e WHERE e.run_id = r.run_id)"
        " AS apart FROM energy_runs r WHERE attempt IS NULL"
    ).rows(named=True)
    assert row["energy_j"] == pytest.approx(row["apart"], rel=1e-9)
    assert (row["devices_count"], row["expected_count"]) == (16, 16)
    # 100 steps are kept of the 110 that were taken
    assert (row["steps"], row["tokens"]) == (100, 100 * 327_680)
    assert row["j_per_step"] * row["steps"] == pytest.approx(row["productive_j"])
    assert 0 < row["productive_j"] < row["energy_j"]


def test_the_mean_of_power_is_energy_over_time(sample: "Sample") -> None:
    # readings of the moment, held, against trapezoids of the second's mean
    (row,) = sample.sql(
        "SELECT s.devices_count, e.mean_w AS each_w, s.mean_w AS together_w"
        " FROM power_shapes s JOIN energy_runs e USING (run_id) WHERE attempt IS NULL"
    ).rows(named=True)
    together = row["each_w"] * row["devices_count"]
    assert row["together_w"] == pytest.approx(together, rel=0.05)


def test_samples_of_a_second_pass_no_limit_within_one(sample: "Sample") -> None:
    rows = sample.sql(
        "SELECT verdict FROM power_limits WHERE limit_name LIKE 'ramp%'"
        " AND window_ns <= 1000000000"
    )
    assert rows.height == 4
    assert "pass" not in set(rows["verdict"])
