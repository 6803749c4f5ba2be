"""What was put into the sample run comes out of it."""

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.truth.conftest import Sample

#: Share of the paid time that may stay without a cause.
MOST_UNATTRIBUTED = Decimal("0.05")


def accounts(sample: "Sample") -> dict[str, int]:
    """GPU time by account. [ns]"""
    rows = sample.sql("SELECT category, sum(gpu_ns) AS ns FROM lost_time GROUP BY 1")
    return {category: int(ns) for category, ns in rows.iter_rows()}


def test_everything_is_read(sample: "Sample") -> None:
    assert sample.code == 0
    files = sample.sql("SELECT * FROM ingested_files")
    assert files["rows_rejected"].sum() == 0
    assert set(files["zone_basis"]) <= {"run_card", "none"}


def test_accounts_add_up_to_the_paid_time(sample: "Sample") -> None:
    paid = sample.truth["gpu_ns"]["paid"]
    assert sum(accounts(sample).values()) == paid
    held = sample.sql("SELECT sum(to_ns - from_ns) AS ns FROM allocations")
    assert int(held["ns"][0]) == paid


def test_little_is_unattributed(sample: "Sample") -> None:
    paid = sample.truth["gpu_ns"]["paid"]
    assert accounts(sample).get("unattributed", 0) <= MOST_UNATTRIBUTED * paid


def test_accounts_that_the_step_log_tells_are_exact(sample: "Sample") -> None:
    truth = sample.truth["gpu_ns"]
    found = accounts(sample)
    for account, name in (
        ("restart", "restart"),
        ("recompute", "recompute"),
        ("checkpoint_stall", "checkpoint"),
        ("data_stall", "data"),
    ):
        assert found[account] == truth[name], account


def test_accounts_that_traces_refine_are_near(sample: "Sample") -> None:
    # three steps of the hundred are told by traces, whose kernels leave gaps
    truth = sample.truth["gpu_ns"]
    found = accounts(sample)
    assert found["productive"] == pytest.approx(truth["compute"], rel=0.02)
    assert found["straggler_wait"] == pytest.approx(truth["wait"], rel=0.05)
    assert found["exposed_communication"] == pytest.approx(
        truth["communication"], rel=0.05
    )


def test_the_slow_gpu_is_found_with_its_cause(sample: "Sample") -> None:
    truth = sample.truth["straggler"]
    rows = sample.sql("SELECT * FROM straggler_ranks").rows(named=True)
    (row,) = rows
    assert (row["scope"], row["rank"]) == ("gpu", truth["rank"])
    assert (row["host"], row["scope_id"]) == (truth["host"], truth["gpu_uuid"])
    # the truth is of compute alone; own work also holds what nobody is slower in
    assert row["slowdown_ratio"] == pytest.approx(truth["slowdown_ratio"], abs=0.02)
    assert "power" in row["cause"]
    assert row["q_value"] < 0.01
    saved = float(row["lost_gpu_ns"])
    assert saved == pytest.approx(truth["saved_gpu_ns_when_repaired"], rel=0.1)


def test_the_interruption_is_found_with_its_cause(sample: "Sample") -> None:
    truth = sample.truth["failure"]
    (row,) = sample.sql("SELECT * FROM interruptions").rows(named=True)
    first, second = sample.truth["attempts"]
    assert row["category"] == "hardware"
    assert row["cause"].startswith("xid 79")
    assert row["lost_steps"] == truth["lost_steps"]
    assert row["last_step_end_ns"] == first["last_step_end_ns"]
    assert row["decided_ns"] == first["end_ns"]
    assert row["started_ns"] == second["start_ns"]
    assert row["first_step_ns"] == second["first_step_start_ns"]
    (incident,) = sample.sql(
        "SELECT i.* FROM incidents i JOIN interruptions USING (incident_id)"
    ).rows(named=True)
    assert incident["host"] == truth["host"]
    assert incident["gpu_key"] in {truth["gpu_uuid"], truth["serial"]}
    assert incident["root_code"] == str(truth["xid"])


def test_attempts_are_those_of_the_scheduler(sample: "Sample") -> None:
    rows = sample.sql("SELECT * FROM attempts ORDER BY attempt").rows(named=True)
    assert len(rows) == 2
    for row, truth in zip(rows, sample.truth["attempts"], strict=True):
        for name in ("submit_ns", "start_ns", "end_ns", "first_step", "last_step"):
            assert row[name] == truth[name], name
    assert rows[1]["resumed_step"] == sample.truth["failure"]["resumed_step"]


def test_communication_is_exposed(sample: "Sample") -> None:
    rows = sample.sql(
        "SELECT exposed_communication_ns AS ns, overlap_ratio AS r FROM overlap"
        " WHERE step IS NULL"
    )
    assert rows.height == sample.truth["ranks"]
    assert rows["ns"].min() > 0  # type: ignore[operator]
    assert rows["r"].max() < 1  # type: ignore[operator]


def test_the_report_shows_dollars(sample: "Sample") -> None:
    html = (sample.lake / "report.html").read_text(encoding="utf-8")
    # 2,288 GPU-seconds at 2.00 USD a GPU-hour
    assert "1.27" in html
    assert "USD" in html
