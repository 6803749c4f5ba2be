"""Silences that are too long to be bridged, and samples with the time of their file."""

from typing import Any

import pytest

from ingest.times import SECOND_NS
from tests.analysis.test_energy import UUID, measure, samples

Row = dict[str, Any]

MONTHS_S = 240 * 86_400


def at(seconds: int, file_id: str, **other: Any) -> Row:
    (row,) = samples(until=0, file_id=file_id, **other)
    return row | {"time_ns": seconds * SECOND_NS}


def test_two_samples_of_different_months_make_no_energy() -> None:
    late = at(MONTHS_S, "b", time_quality="file_time")
    found = measure([at(0, "a", time_quality="resampled"), late], [])[None, UUID]
    assert (found["energy_j"], found["method"]) == (None, "none")
    assert (found["coverage_ratio"], found["samples_count"]) == (0, 2)
    assert found["quality"] == "gap,file_time,resampled"


@pytest.mark.parametrize(("silence_s", "joules"), [(300, 30_000), (301, None)])
def test_no_silence_above_five_minutes_is_bridged(
    silence_s: int, joules: float | None
) -> None:
    found = measure([at(0, "a"), at(silence_s, "a")], [])[None, UUID]
    assert found["energy_j"] == joules
    assert found["quality"] == ("slow_scrape" if joules else "gap")


def test_a_counter_is_read_across_any_silence() -> None:
    first, last = at(0, "a", energy_mj=5), at(86_400, "b", energy_mj=8_640_000_005)
    found = measure([first, last], [])[None, UUID]
    assert (found["energy_j"], found["method"]) == (8_640_000, "counter")
    assert (found["coverage_ratio"], found["quality"]) == (1, None)


@pytest.mark.parametrize("counter", [{}, {"energy_mj": 5}])
def test_the_time_of_a_file_is_not_held_against_another_file(counter: Row) -> None:
    own, other = samples(until=4, file_id="a"), at(5, "b", time_quality="file_time")
    found = measure([*own, other | counter], [])[None, UUID]
    assert found["energy_j"] == pytest.approx(400)
    assert found["quality"] == "gap,file_time"


def test_counters_of_two_files_are_not_held_against_a_time_of_a_file() -> None:
    first = at(0, "a", power_average_w=None, energy_mj=5)
    last = at(10, "b", power_average_w=None, energy_mj=9, time_quality="file_time")
    found = measure([first, last], [])[None, UUID]
    assert (found["energy_j"], found["method"]) == (None, "none")
    assert found["quality"] == "gap,file_time"


def test_samples_of_one_file_are_held_against_each_other() -> None:
    power = [at(0, "a"), at(1, "a", time_quality="file_time")]
    assert measure(power, [])[None, UUID]["energy_j"] == pytest.approx(100)
