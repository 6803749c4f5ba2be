"""Sensors and files that are wrong, and what counts instead. Times are seconds."""

from typing import Any

import pytest

from tests.analysis.test_energy_integral import counter, measure, sample

Row = dict[str, Any]


def of_file(name: str, watts: float, shift: float = 0, every: int = 1) -> list[Row]:
    times = range(0, 101, every)
    return [sample(at + shift, watts, file_id=name) for at in times]


@pytest.mark.parametrize("shift", [0, 0.5, 30.333])
def test_of_files_that_disagree_one_counts(shift: float) -> None:
    found = measure(of_file("a", 620) + of_file("b", 103, shift), (0, 100))
    assert found["energy_j"] == pytest.approx(62_000)
    assert "sources_disagree" in found["quality"]


def test_of_files_that_disagree_the_one_with_more_samples_counts() -> None:
    found = measure(of_file("a", 620, every=10) + of_file("b", 103, 0.5), (1, 100))
    assert found["energy_j"] == pytest.approx(103 * 99)


def test_of_files_that_disagree_the_one_whose_zone_is_known_counts() -> None:
    assumed = [row | {"time_quality": "zone_assumed"} for row in of_file("a", 620)]
    found = measure(assumed + of_file("b", 103, 0.5, every=2), (1, 100))
    assert found["energy_j"] == pytest.approx(103 * 99)


def test_files_that_agree_are_one_series() -> None:
    found = measure(of_file("a", 620) + of_file("b", 610, 0.5), (0, 100))
    assert found["energy_j"] == pytest.approx(61_500, rel=1e-3)
    assert found["quality"] is None


def test_a_file_counts_where_the_other_is_silent() -> None:
    # a: 620 W, none from 40 to 60 s     b: 310 W every second
    silent = [row for row in of_file("a", 620) if not 40e9 < row["time_ns"] < 60e9]
    extra = of_file("a", 620, 0.25)
    held = [row for row in extra if not 40e9 < row["time_ns"] < 60e9]
    found = measure(silent + held + of_file("b", 310, 0.5), (0, 100))
    assert found["energy_j"] == pytest.approx(80 * 620 + 20 * 310, rel=0.01)


def test_counters_of_two_clocks_are_not_mixed() -> None:
    late = [counter(at + 0.7, 600 * at, file_id="b") for at in range(99)]
    reads = [counter(at, 600 * at, file_id="a") for at in range(101)]
    found = measure(reads + late, (0, 100))
    assert (found["method"], found["quality"]) == ("counter", None)
    assert found["energy_j"] == pytest.approx(60_000)


@pytest.mark.parametrize("every", [1, 15])
def test_a_counter_that_never_rises_gives_way_to_power(every: int) -> None:
    times = range(0, 91, every)
    reads = [counter(at, 5, power_average_w=600) for at in times]
    found = measure(reads, (0, 90))
    assert found["method"] == "trapezoid_average"
    assert found["energy_j"] == pytest.approx(54_000)


def test_a_counter_that_stops_gives_way_to_power() -> None:
    # it rises by 600 J a second until second 100, and stands still until 200
    reads = [counter(at, 600 * min(at, 100), power_average_w=600) for at in range(201)]
    found = measure(reads, (0, 200))
    assert found["method"] == "trapezoid_average"
    assert found["energy_j"] == pytest.approx(120_000)


def test_a_counter_that_never_rises_is_stale_where_nothing_else_tells() -> None:
    found = measure([counter(at, 5) for at in range(41)], (0, 40))
    assert (found["method"], found["energy_j"]) == ("none", None)
    assert (found["coverage_ratio"], found["quality"]) == (0, "stale_sensor")


def test_a_counter_twice_too_high_is_told_at_slow_sampling_too() -> None:
    reads = [counter(15 * n, 30_000 * n, power_average_w=600) for n in range(20)]
    found = measure(reads, (0, 285))
    assert "counter_disagrees" in found["quality"]


def test_a_limit_of_zero_is_no_limit() -> None:
    found = measure([sample(at, 600, power_limit_w=0) for at in range(41)], (0, 40))
    assert (found["energy_j"], found["quality"]) == (24_000, None)


def test_the_peak_is_never_below_the_mean() -> None:
    ramp = [sample(at, 600 + 10 * at) for at in range(4)]
    short = measure(ramp, (0.9, 2.9))
    assert short["peak_w"] == pytest.approx(629)
    assert short["mean_w"] <= short["peak_w"]
    between = measure(ramp, (1.2, 1.8))
    assert between["peak_w"] == pytest.approx(618)
    assert between["mean_w"] == pytest.approx(615)
    alone = measure([counter(at, 100 * at) for at in range(4)], (0, 3))
    assert (alone["peak_w"], alone["mean_w"]) == (None, pytest.approx(100))
