"""Generated clusters through the whole pipeline, against the truth about them."""

from pathlib import Path

import pytest

from ingest.synthetic.cluster.cluster import cluster_of
from ingest.synthetic.cluster.scenario import Scenario, load_scenario, parse_scenario
from pipeline.generating import Format
from tests.truth.generated import (
    assert_accounts,
    assert_stops,
    assert_stragglers,
    judged,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("elsewhere")]

#: 128 ranks of 16 hosts for a day, 6 s a step.
POD = """
seed = 128
run_id = "pod128"
[fleet]
hosts = 16
spares = 1
[layout]
tp = 8
dp = 16
[schedule]
step_s = 6.0
checkpoint_every = 100
checkpoint_s = 3.0
[calendar]
begun = 2026-03-02T00:00:00Z
days = 1
"""

FAULTS = """
[[faults]]
kind = "slow_gpu"
rank = 21
from_s = 4_000
length_s = 3_600
severity = 1.1
[[faults]]
kind = "thermal_cap"
rank = 40
from_s = 12_000
length_s = 3_600
severity = 1.2
[[faults]]
kind = "power_cap"
rank = 77
from_s = 20_000
length_s = 3_600
severity = 1.15
[[faults]]
kind = "slow_link"
rank = 100
from_s = 28_000
length_s = 3_600
severity = 2.0
[[faults]]
kind = "xid"
rank = 11
from_s = 36_000
xid = 79
[[faults]]
kind = "hang"
host = 3
from_s = 40_000
[[faults]]
kind = "data_stall"
from_s = 46_000
length_s = 2_400
severity = 1.5
[[faults]]
kind = "checkpoint_storm"
from_s = 54_000
length_s = 7_200
severity = 5.0
[[faults]]
kind = "preemption"
from_s = 66_000
length_s = 3_600
"""


def pod(faults: str) -> Scenario:
    return parse_scenario((POD + faults).encode(), "pod128.toml")


@pytest.mark.parametrize("form", ["raw", "parquet"])
def test_the_sample_is_read_as_it_was_made(tmp_path: Path, form: Format) -> None:
    lake, truth = judged(load_scenario("sample"), tmp_path, form)
    assert_accounts(lake, truth)
    assert_stragglers(lake, truth)
    assert_stops(lake, truth, listed=True)


@pytest.mark.parametrize("by_day", [True, False])
def test_every_fault_of_a_pod_is_found(tmp_path: Path, by_day: bool) -> None:
    if by_day:
        (tmp_path / "gpuledger.toml").write_text("by_day_rows = 0\n")
    lake, truth = judged(pod(FAULTS), tmp_path, "parquet", interval_s=60.0)
    assert_accounts(lake, truth)
    assert_stragglers(lake, truth)
    assert_stops(lake, truth, listed=True)


def test_a_healthy_pod_has_no_stragglers(tmp_path: Path) -> None:
    lake, truth = judged(pod(""), tmp_path, "parquet", interval_s=0)
    assert_accounts(lake, truth)
    assert_stragglers(lake, truth)


def test_llama3_does_useful_work_for_as_long_as_its_paper_says() -> None:
    """More than 90 % of 54 days, with 419 unexpected stops: one in 3.1 hours."""
    cluster = cluster_of(load_scenario("llama3"))
    attempts = cluster.attempts
    kept_us = sum(int(one.clock.duration[: one.kept].sum()) for one in attempts)
    whole_ns = attempts[-1].end_ns - attempts[0].start_ns
    assert 0.9 < kept_us * 1_000 / whole_ns < 0.93
    planned = [one.stop.planned for one in attempts if one.stop is not None]
    assert (planned.count(False), planned.count(True)) == (419, 47)
    assert whole_ns / 3.6e12 / 419 == pytest.approx(3.09, abs=0.01)
