"""Energy of drawn power: times are seconds, power is watts."""

from typing import Any

import polars as pl
import pytest

from analysis._energy_bridges import Bridges
from analysis._energy_measure import integrate
from ingest.tables import PowerSamples
from ingest.times import SECOND_NS

Row = dict[str, Any]

BRIDGES = Bridges(3 * SECOND_NS, 5.0, 300 * SECOND_NS)


def sample(at: float, average: float | None = None, **other: Any) -> Row:
    row = {
        "device": 0,
        "level": "gpu_board",
        "time_ns": round(at * SECOND_NS),
        "time_quality": "exact",
        "power_average_w": average,
    }
    return row | other


def counter(at: float, joules: float | None, **other: Any) -> Row:
    millijoules = None if joules is None else round(joules * 1_000)
    return sample(at, energy_mj=millijoules, **other)


def measure(samples: list[Row], *pieces: tuple[float, float]) -> Row:
    """Energy of one device in one window of one or more pieces."""
    schema = pl.Schema({"device": pl.Int64()}) | PowerSamples.create_empty().schema
    windows = [
        {
            "device": 0,
            "window": "w",
            "from_ns": round(start * SECOND_NS),
            "to_ns": round(end * SECOND_NS),
            "is_shared": False,
            "is_assumed": False,
        }
        for start, end in pieces
    ]
    found = integrate(
        pl.DataFrame(samples, schema=schema),
        pl.DataFrame(windows),
        BRIDGES,
    )
    return found.row(0, named=True)


def test_a_ramp_is_cut_at_the_edges_of_the_window() -> None:
    # 0 W at 0 s, 100 W at 2 s: 20 W at 0.4 s, 60 W at 1.2 s, 40 W in the mean
    found = measure([sample(0, 0), sample(2, 100)], (0.4, 1.2))
    assert found["energy_j"] == pytest.approx(40 * 0.8)
    assert found["coverage_ratio"] == 1
    assert found["quality"] == "refresh_slower_than_window"


def test_irregular_samples_weigh_by_their_time() -> None:
    # 100 W for 1 s, then down to 0 W within 2 s: 100 + 100 J, not the mean of rows
    found = measure([sample(0, 100), sample(1, 100), sample(3, 0)], (0, 3))
    assert found["energy_j"] == pytest.approx(200)
    assert found["peak_w"] == 100


def test_nothing_is_measured_across_a_gap() -> None:
    # 100 W at 0..10 s and 20..30 s, silence of 10 s between
    times = [*range(11), *range(20, 31)]
    found = measure([sample(at, 100) for at in times], (0, 30))
    assert found["energy_j"] == pytest.approx(2_000)
    assert found["coverage_ratio"] == pytest.approx(20 / 30)
    assert found["mean_w"] == pytest.approx(100)
    assert found["quality"] == "gap"


def test_a_slow_scrape_is_no_gap() -> None:
    found = measure([sample(30 * n, 100) for n in range(10)], (0, 270))
    assert found["energy_j"] == pytest.approx(27_000)
    assert found["quality"] == "slow_scrape"


def test_nothing_is_measured_beyond_the_samples() -> None:
    found = measure([sample(at, 100) for at in range(11)], (-10, 10))
    assert found["energy_j"] == pytest.approx(1_000)
    assert found["coverage_ratio"] == pytest.approx(0.5)
    assert found["quality"] == "unbracketed"


def test_the_counter_goes_before_power() -> None:
    # The counter says 300 J in 2 s, power (100 W) says 200 J.
    samples = [counter(at, 1_000 + 150 * at, power_average_w=100) for at in range(3)]
    found = measure(samples, (0, 2))
    assert (found["method"], found["energy_j"]) == ("counter", pytest.approx(300))
    assert found["quality"] == "counter_disagrees"


def test_the_counter_is_cut_at_the_edges_and_bridges_silence() -> None:
    # 0 J at 0 s, 6,000 J at 60 s; in between it rose evenly, as far as is known
    found = measure([counter(0, 0), counter(60, 6_000)], (15, 45))
    assert found["energy_j"] == pytest.approx(3_000)
    assert found["coverage_ratio"] == 1


def test_a_reset_is_credited_from_zero_and_its_time_is_not_measured() -> None:
    # second   0     10     20 | reset   30    40
    # joules  1000   2000  3000        | 400   1400
    reads = {0: 1_000, 10: 2_000, 20: 3_000, 30: 400, 40: 1_400}
    found = measure([counter(at, joules) for at, joules in reads.items()], (0, 40))
    assert found["energy_j"] == pytest.approx(3_000 + 400)
    assert found["coverage_ratio"] == pytest.approx(30 / 40)
    assert found["mean_w"] == pytest.approx(100)
    assert found["quality"] == "counter_reset"


@pytest.mark.parametrize("wrong", [9_000_000, 0])
def test_one_read_that_stands_out_is_left_out(wrong: int) -> None:
    reads = {0: 10_000, 10: 11_000, 20: wrong, 30: 13_000, 40: 14_000}
    samples = [counter(at, e, power_limit_w=400) for at, e in reads.items()]
    found = measure(samples, (0, 40))
    assert found["energy_j"] == pytest.approx(4_000)
    assert found["quality"] is None


def test_a_rise_beyond_the_power_limit_is_not_believed() -> None:
    # 100 W, a leap by a megajoule within 10 s at a limit of 400 W, 100 W again
    reads = {0: 0, 10: 1_000, 20: 1_001_000, 30: 1_002_000}
    samples = [counter(at, e, power_limit_w=400) for at, e in reads.items()]
    found = measure(samples, (0, 30))
    assert found["energy_j"] == pytest.approx(2_000)
    assert found["coverage_ratio"] == pytest.approx(2 / 3)
    assert found["quality"] == "counter_jump"


def test_power_beyond_the_limit_by_half_is_not_believed() -> None:
    samples = [sample(at, 100, power_limit_w=400) for at in range(5)]
    samples[2]["power_average_w"] = 601
    found = measure(samples, (0, 4))
    assert found["energy_j"] == pytest.approx(400)
    assert (found["peak_w"], found["quality"]) == (100, "above_limit")


def test_power_takes_over_where_the_counter_measured_too_little() -> None:
    samples = [sample(at, 100) for at in range(21)]
    for at in (0, 1):
        samples[at]["energy_mj"] = 100_000 * at
    found = measure(samples, (0, 20))
    assert (found["method"], found["energy_j"]) == (
        "trapezoid_average",
        pytest.approx(2_000),
    )


def test_the_mean_over_a_second_goes_before_the_moment() -> None:
    both = [sample(at, 100, power_instant_w=300) for at in range(3)]
    found = measure(both, (0, 2))
    assert (found["method"], found["energy_j"]) == (
        "trapezoid_average",
        pytest.approx(200),
    )
    assert found["peak_w"] == 300
    moments = [sample(at, None, power_instant_w=300) for at in range(3)]
    assert measure(moments, (0, 2))["method"] == "trapezoid_instant"


def test_one_sample_measures_nothing() -> None:
    found = measure([sample(1, 100)], (0, 2))
    assert (found["method"], found["energy_j"]) == ("none", None)
    assert found["coverage_ratio"] == 0
    assert "single_sample" in found["quality"]
