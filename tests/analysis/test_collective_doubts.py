"""Ranks matched by order alone: what a lost collective must not shift in silence."""

from typing import Any

import pytest

from tests.analysis.collectives import measure, seen
from tests.analysis.meetings import offsets

ORDER: dict[str, Any] = {"sequence": None, "match_method": "order"}

#: Ten milliseconds from one to the next; each lasts 100 us.
EVERY, LONG = 10_000_000, 100_000


def ordered(rank: int, *numbers: int, **told: Any) -> list[dict[str, Any]]:
    """The collectives that a rank saw; it comes 5 us later than the rank before."""
    late = 5_000 * rank
    return [
        seen(
            rank,
            number * EVERY + late,
            number * EVERY + LONG,
            **{"host": "one"} | ORDER | told,
        )
        for number in numbers
    ]


def doubts(*rows: dict[str, Any]) -> list[str | None]:
    return [row["match_doubt"] for row in measure(*rows)]


def test_a_lost_one_in_the_middle_is_noticed() -> None:
    # rank 1 has lost its second: by order, its third meets the second of rank 0
    rows = measure(*ordered(0, 0, 1, 2), *ordered(1, 0, 2))
    assert [row["match_doubt"] for row in rows] == [None, "count", None]
    first, second, third = rows
    assert (first["wait_ns_max"], first["last_rank"]) == (5_000, 1)
    assert (second["wait_ns_max"], second["last_rank"]) == (None, None)
    assert (third["ranks_seen"], third["wait_ns_max"]) == (1, None)


def test_a_trace_that_ends_early_keeps_what_it_saw() -> None:
    rows = measure(*ordered(0, 0, 1, 2), *ordered(1, 0, 1))
    assert [row["match_doubt"] for row in rows] == [None, None, None]
    assert [row["wait_ns_max"] for row in rows] == [5_000, 5_000, None]


@pytest.mark.parametrize(
    ("ahead", "expected"), [(0, [None] * 3), (LONG, ["count", "count", None])]
)
def test_on_clocks_that_nothing_connects_only_equal_ends_tell(
    ahead: int, expected: list[str | None]
) -> None:
    one = ordered(1, 0, 1, host="two")
    for row in one:
        row["start_ns"] += ahead
        row["end_ns"] += ahead
    assert doubts(*ordered(0, 0, 1, 2, host="one"), *one) == expected


def test_other_sizes_are_other_collectives() -> None:
    zero = ordered(0, 0, 1, 2, bytes_total=8)
    one = ordered(1, 0, 1, 2, bytes_total=8)
    one[1]["bytes_total"] = 16
    assert doubts(*zero, *one) == [None, "size", None]
    # ranks of an all-to-all may send what they like
    free = [row | {"kind": "alltoall"} for row in (*zero, *one)]
    assert doubts(*free) == [None] * 3


def test_a_number_leaves_no_doubt() -> None:
    # a rank that asked for another size is a bug of the program, and the same moment
    rows = [
        seen(rank, 5 * rank, 50, sequence=7, bytes_total=8 + rank) for rank in range(2)
    ]
    assert doubts(*rows) == [None]


def test_one_ahead_all_along_is_noticed() -> None:
    # both saw three, but rank 1 missed the first and saw one more
    rows = measure(*ordered(0, 0, 1, 2), *ordered(1, 1, 2, 3))
    assert [row["match_doubt"] for row in rows] == ["time"] * 3
    assert {row["wait_ns_max"] for row in rows} == {None}


def test_one_ahead_all_along_is_no_clock() -> None:
    # without a host, it could be a clock that is 10 ms off: it is not taken for one
    numbers = range(20)
    zero = ordered(0, *numbers, host=None)
    one = ordered(1, *(number + 1 for number in numbers), host=None)
    _, later = offsets(*zero, *one)
    assert (later["state"], later["offset_ns"]) == ("unknown", None)


def test_steps_tell_a_clock_from_a_shift() -> None:
    # the same times, but every row knows its step: it is the clock
    numbers = range(20)
    zero = ordered(0, *numbers, host=None)
    one = ordered(1, *(number + 1 for number in numbers), host=None)
    for number in numbers:
        zero[number]["step"] = one[number]["step"] = number
    _, later = offsets(*zero, *one)
    assert (later["state"], later["offset_ns"]) == ("estimated", EVERY)


@pytest.mark.parametrize("basis", ["gpu", "cpu"])
def test_what_was_not_sampled_shifts_nothing(basis: str) -> None:
    # NCCL Inspector keeps the last of each kind: numbers have gaps, which say nothing
    rows = measure(
        *(seen(0, 10 * n, 10 * n + 9, sequence=n, time_basis=basis) for n in (1, 3, 4)),
        *(seen(1, 10 * n, 10 * n + 5, sequence=n, time_basis=basis) for n in (1, 2, 4)),
    )
    by_number = {row["sequence"]: row for row in rows}
    assert {n: row["ranks_seen"] for n, row in by_number.items()} == {
        1: 2,
        2: 1,
        3: 1,
        4: 2,
    }
    assert [by_number[n]["wait_ns_max"] for n in (2, 3)] == [None, None]
    assert {row["match_doubt"] for row in rows} == {None}


def test_roots_that_are_told() -> None:
    # time       0    5    10
    # rank 0, root    #####        broadcast: the others wait for it
    # rank 1     ##########        waits 5
    told = {"peer_rank": 0, "host": "one"}
    (row,) = measure(
        seen(0, 5, 10, kind="broadcast", **told),
        seen(1, 0, 10, kind="broadcast", **told),
    )
    assert (row["wait_ns_total"], row["last_rank"], row["late_ns"]) == (5, 0, 5)
    # in a reduce only the root waits: rank 1 came first, and did not wait
    (row,) = measure(
        seen(0, 5, 10, kind="reduce", **told), seen(1, 0, 10, kind="reduce", **told)
    )
    assert (row["wait_ns_total"], row["last_rank"], row["late_ns"]) == (0, None, 0)
    (row,) = measure(
        seen(0, 0, 10, kind="reduce", **told), seen(1, 4, 10, kind="reduce", **told)
    )
    assert (row["wait_ns_total"], row["last_rank"], row["late_ns"]) == (4, 1, 4)


def test_devices_of_one_trace_without_ranks_meet() -> None:
    one = {"trace_id": "t", "host": None} | ORDER
    (row,) = measure(
        seen(None, 0, 10, device=0, **one), seen(None, 6, 10, device=1, **one)
    )
    assert (row["ranks_seen"], row["wait_ns_total"], row["last_rank"]) == (2, 6, None)
    assert row["last_participant"] == "t, device 1"
