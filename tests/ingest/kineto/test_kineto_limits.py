"""Times that cannot be are refused by name."""

from collections.abc import Callable
from typing import Any

import pytest

ReadTrace = Callable[..., Any]

DAY_US = 86_400_000_000


@pytest.mark.parametrize(
    ("start", "duration", "rule"),
    [
        (50, -1, "negative_duration"),
        (50, None, "no_time"),
        (None, 5, "no_time"),
        ("soon", 5, "no_time"),
        (0, 5, "time_outside_trace"),
        (9e15, 5, "time_outside_trace"),
        (30 * DAY_US, 9e12, "longer_than_trace"),
        (30 * DAY_US, 2e7, "longer_than_trace"),
    ],
)
def test_broken_times_are_refused_by_name(
    read_trace: ReadTrace, write: Any, start: object, duration: object, rule: str
) -> None:
    # GIVEN kernels a month after the base, in a profile of 10 s, and a broken one
    sound = [write.kernel(30 * DAY_US + 10 * one, 5) for one in range(9)]
    rows = read_trace(
        [*sound, write.kernel(start, duration, "broken"), write.window(1e7)]
    )
    # THEN it is refused with its place, and the others are rows
    assert rows.rules == [rule]
    assert rows.refused[0].place == "event 9"
    assert "broken" in rows.refused[0].raw
    assert len(rows.kernels) == 9
    assert rows.records == 11


def test_zero_is_a_time_like_any_other(read_trace: ReadTrace, write: Any) -> None:
    rows = read_trace(
        [write.kernel(0, 5), write.kernel(5, 0), write.kernel(7, 3_599_000_000)]
    )
    assert rows.kernels["start_ns"].to_list() == [0, 5_000, 7_000]


@pytest.mark.parametrize("device", [None, -1, 1 << 40])
def test_work_of_no_device_is_refused(
    read_trace: ReadTrace, write: Any, device: object
) -> None:
    one = write.kernel(5, 1, device=device)
    del one["pid"]
    assert read_trace([one, write.kernel(6, 1)]).rules == ["no_device"]


def test_broken_steps_are_refused(read_trace: ReadTrace, write: Any) -> None:
    rows = read_trace([write.step(1, 0, 9), write.step(2, 9, -9)], name="rank0.json")
    assert rows.steps["step"].to_list() == [1]
    assert rows.rules == ["negative_duration"]
