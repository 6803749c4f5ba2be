"""Clocks over time: drifts, and spells of profiling."""

import pytest

from analysis._clock_windows import MOST_WINDOW_NS, SILENCE_NS
from tests.analysis.collectives import measure, seen
from tests.analysis.meetings import AHEAD, met, offsets


def test_a_window_long_enough_tells_the_drift() -> None:
    # 31 meetings over 30 s; one clock gains 40 us a second
    rows = [
        seen(
            rank,
            second * 10**9 + rank * 40_000 * second,
            second * 10**9 + rank * 40_000 * second + 100_000,
            sequence=second,
            host=f"node-{rank}",
        )
        for second in range(31)
        for rank in range(2)
    ]
    _, one = offsets(*rows)
    assert one["drift_ppm"] == pytest.approx(40, rel=1e-3)
    # at the middle of the window, 15 s in
    assert one["offset_ns"] == pytest.approx(15 * 40_000, abs=20)
    assert {row["clock_residual_ns"] for row in measure(*rows)} == {0}


def test_spells_of_profiling_are_fitted_apart() -> None:
    later = 2 * SILENCE_NS
    first = met(3, {0: 0, 1: AHEAD})
    second = [
        row
        | {
            "start_ns": row["start_ns"] + later + row["rank"] * AHEAD,
            "end_ns": row["end_ns"] + later + row["rank"] * AHEAD,
            "sequence": row["sequence"] + 3,
        }
        for row in first
    ]
    told = offsets(*first, *second)
    assert [(row["clock"], row["spell"], row["offset_ns"]) for row in told] == [
        ("node-0", 0, 0),
        ("node-0", 1, 0),
        ("node-1", 0, AHEAD),
        ("node-1", 1, 2 * AHEAD),
    ]
    waits = measure(*first, *second)
    assert {row["wait_ns_max"] for row in waits} == {0}


def test_a_long_profile_is_cut_into_spells_of_bounded_length() -> None:
    told = offsets(*met(60, {0: 0, 1: AHEAD}, every=30 * 10**9))
    spells = [row for row in told if row["clock"] == "node-0"]
    assert len(spells) == 3
    lengths = [row["to_ns"] - row["from_ns"] for row in spells]
    assert max(lengths) <= MOST_WINDOW_NS


def test_a_clock_an_hour_off_is_found_by_numbers() -> None:
    # node-1 is an hour ahead and drifts by 40 ppm; the same collectives carry numbers
    hour = 3600 * 10**9
    rows = met(30, {0: 0, 1: hour}, every=10**9)
    told = offsets(*rows)
    assert [(row["clock"], row["state"], row["spell"]) for row in told] == [
        ("node-0", "reference", 0),
        ("node-1", "estimated", 0),
    ]
    zero, one = told
    assert one["offset_ns"] == hour
    assert one["is_corrected"]
    # each is told on its own clock
    assert one["from_ns"] - zero["from_ns"] == hour
    assert one["reference_ns"] - zero["reference_ns"] == hour
    assert {row["wait_ns_max"] for row in measure(*rows)} == {0}


def test_a_clock_that_shares_nothing_in_time_is_unknown() -> None:
    # a day is no zone's difference; by order alone nothing tells an hour from a restart
    for rows in (
        met(5, {0: 0, 1: 86_400 * 10**9}),
        [row | {"sequence": None} for row in met(5, {0: 0, 1: 3600 * 10**9})],
    ):
        zero, one = offsets(*rows)
        assert (zero["state"], one["state"]) == ("reference", "unknown")
        assert one["offset_ns"] is None
        assert one["reason"].startswith("no collective is shared in time")
        assert {row["wait_ns_max"] for row in measure(*rows)} == {None}
