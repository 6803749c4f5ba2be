"""What is larger than its noise, against formulas and simulated fleets."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import Frames
from analysis._change_tests import differences
from analysis._ledger_accounts import ACCOUNTS
from analysis.attempts import Attempts
from analysis.changes import Side, changes
from analysis.interruptions import Interruptions
from analysis.lost_time import LostTime
from analysis.stragglers import StragglerRanks
from ingest.tables import StepTimings
from tests.analysis.stops import Row, rows_of

HOUR = 3_600 * 10**9
DAY = 24 * HOUR
START = 1_772_323_200 * 10**9  # 2026-03-01 00:00 UTC


def samples(*values: float, weight: float = 1.0) -> pl.DataFrame:
    return pl.DataFrame(
        {"measure": "m", "subject": "", "value": values, "weight": weight}
    )


def ledger(shares: list[float], run: str = "r", first: int = 1) -> list[Row]:
    """A day of 100 GPU-hours for each share of useful work, the rest idle."""
    return [
        {
            "run_id": run,
            "attempt": 0,
            "day": f"2026-03-{first + day:02d}",
            "category": account,
            "basis": "step_parts",
            "gpu_ns": round(part * 100 * HOUR),
        }
        for day, share in enumerate(shares)
        for account, part in (("productive", share), ("idle", 1 - share))
    ]


def verdicts(before: Side, now: Side) -> dict[str, str]:
    rows = changes(before, now)
    return dict(rows.select(pl.col("measure") + pl.col("subject"), "verdict").rows())


def test_the_noise_is_that_of_students_test() -> None:
    # 1 2 3 against 5: pooled sd 1, error sqrt(1/3 + 1), t(0.975, 2) = 4.3027
    (row,) = differences(samples(1, 2, 3), samples(5)).to_dicts()
    assert (row["before"], row["now"]) == (2, 5)
    assert row["noise"] == pytest.approx(4.302653 * math.sqrt(4 / 3))
    # the tail of t with two degrees of freedom is (1 - t / sqrt(t^2 + 2)) / 2
    t = 3 / math.sqrt(4 / 3)
    assert row["p_value"] == pytest.approx(1 - t / math.sqrt(t * t + 2))


def test_too_few_samples_are_not_tested() -> None:
    (row,) = differences(samples(1, 2), samples(5)).to_dicts()
    assert row["noise"] is None
    assert row["p_value"] is None


@given(st.lists(st.floats(0, 1), min_size=3, max_size=8), st.floats(0.1, 1e15))
def test_the_unit_of_weights_does_not_matter(values: list[float], unit: float) -> None:
    (one,) = differences(samples(*values), samples(*values[::-1])).to_dicts()
    told = samples(*values, weight=unit), samples(*values[::-1], weight=unit)
    (other,) = differences(*told).to_dicts()
    assert one["change"] == pytest.approx(0, abs=1e-12)
    assert other["p_value"] == pytest.approx(one["p_value"], abs=1e-6)


def test_a_day_is_held_against_the_days_before_it() -> None:
    table = rows_of(LostTime, ledger([0.80, 0.81, 0.79, 0.80, 0.80, 0.60]))
    frames = Frames({LostTime: table})
    before, now = Side(frames, until="2026-03-06"), Side(frames, since="2026-03-06")
    assert verdicts(before, now) == {"productive": "worse", "idle": "worse"}
    alike = Side(frames, since="2026-03-05", until="2026-03-06")
    earlier = Side(frames, until="2026-03-05")
    assert verdicts(earlier, alike) == {"productive": "same", "idle": "same"}


def test_one_day_of_another_run_tells_nothing() -> None:
    many = ledger([0.8, 0.81, 0.79, 0.8], "a")
    frames = Frames({LostTime: rows_of(LostTime, many + ledger([0.5], "b"))})
    found = verdicts(Side(frames, ("a",)), Side(frames, ("b",)))
    assert set(found.values()) == {"not_testable"}


def test_days_alike_are_seldom_called_changed() -> None:
    # 200 histories of 13 days at the same share: false findings stay at 5 %
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(200):
        days = rng.normal(0.7, 0.02, 13)
        (row,) = differences(samples(*days[:12]), samples(days[12])).to_dicts()
        wrong += row["p_value"] < 0.05
    assert 2 <= wrong <= 20


def test_steps_are_compared_by_blocks_and_little_changes_are_none() -> None:
    def steps(run: str, second: float) -> list[Row]:
        rng = np.random.default_rng(3)
        lengths = second * 1e9 * (1 + 0.003 * rng.standard_normal(100))
        return [
            {"run_id": run, "step": step, "rank": 0, "scope": "rank", "clock": "host"}
            | {"start_ns": START + step * 10**10, "duration_ns": int(length)}
            for step, length in enumerate(lengths)
        ]

    log = [*steps("a", 1.0), *steps("b", 1.05), *steps("c", 1.005)]
    frames = Frames({StepTimings: rows_of(StepTimings, log)})
    assert verdicts(Side(frames, ("a",)), Side(frames, ("b",)))["step_time"] == "worse"
    assert verdicts(Side(frames, ("b",)), Side(frames, ("a",)))["step_time"] == "better"
    assert verdicts(Side(frames, ("a",)), Side(frames, ("c",)))["step_time"] == "little"


def test_what_is_outside_its_noise_is_not_within_it() -> None:
    # ten accounts, twelve quiet days; then useful work moves by 2.7 deviations:
    # alone it is outside its noise, as one of ten it may be chance
    rng = np.random.default_rng(3)
    hours = 10 + 0.1 * rng.standard_normal((13, 10))
    hours[12, 5] = 10 + 0.1 * 2.7
    rows: list[Row] = [
        {"run_id": "r", "attempt": 0, "day": f"2026-03-{day + 1:02d}"}
        | {"basis": "step_parts", "category": account, "gpu_ns": round(hour * HOUR)}
        for day, accounts in enumerate(hours)
        for account, hour in zip(ACCOUNTS, accounts, strict=False)
    ]
    frames = Frames({LostTime: rows_of(LostTime, rows)})
    found = changes(Side(frames, until="2026-03-13"), Side(frames, since="2026-03-13"))
    for row in found.to_dicts():
        is_within = abs(row["change"]) <= row["noise"]
        assert (row["verdict"] == "same") == is_within
    assert "by_chance" in found["verdict"].to_list()


def test_stops_are_compared_by_an_exact_test() -> None:
    # 2 stops in 20 node-days against 9 in 20: p = 2 P(X >= 9 of 11 at 1/2) = 0.0654
    def held(run: str, count: int) -> tuple[list[Row], list[Row]]:
        attempt = {"run_id": run, "attempt": 0, "basis": "jobs", "is_running": False}
        attempt |= {"start_ns": START, "end_ns": START + 10 * DAY, "hosts": "a,b"}
        stop = {"run_id": run, "planned": False, "category": "hardware"}
        stops = [stop | {"attempt": n, "decided_ns": START + DAY} for n in range(count)]
        return [attempt], stops

    (first, few), (second, many) = held("a", 2), held("b", 9)
    frames = Frames(
        {
            Attempts: rows_of(Attempts, first + second),
            Interruptions: rows_of(Interruptions, few + many),
        }
    )
    (row,) = changes(Side(frames, ("a",)), Side(frames, ("b",))).to_dicts()
    assert (row["before"], row["now"]) == (pytest.approx(100), pytest.approx(450))
    assert row["p_value"] == pytest.approx(2 * (55 + 11 + 1) / 2**11)
    assert row["verdict"] == "same"


def test_slow_gpus_are_new_or_gone() -> None:
    def slow(run: str, gpu: str) -> Row:
        row = {"run_id": run, "scope": "gpu", "scope_id": gpu, "lost_gpu_ns": 1}
        return row | {"slowdown_ratio": 1.1}

    rows = [slow("a", "G0"), slow("a", "G1"), slow("b", "G1"), slow("b", "G2")]
    frames = Frames({StragglerRanks: rows_of(StragglerRanks, rows)})
    assert verdicts(Side(frames, ("a",)), Side(frames, ("b",))) == {
        "slowgpu G0": "gone",
        "slowgpu G1": "same",
        "slowgpu G2": "new",
    }
