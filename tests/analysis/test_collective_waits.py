"""Waits, transfers, bandwidths and clocks of collectives, on drawn timelines."""

from typing import Any

import pytest

from analysis._collective_ranks import rank_waits
from analysis.collective_waits import CollectiveWaits, measure_waits
from tests.analysis.collectives import (
    NO_ATTEMPTS,
    collectives,
    measure,
    seen,
)


def test_the_late_rank_has_the_short_kernel_and_no_wait() -> None:
    # time    0    5    10   15   20
    # rank 0  ###################       waits 12, moves data for 7
    # rank 1              #######
    # rank 2       ##############       waits 7
    (row,) = measure(
        seen(0, 0, 19, group_size=3, bytes_total=14),
        seen(1, 12, 19, group_size=3, bytes_total=14),
        seen(2, 5, 19, group_size=3, bytes_total=14),
    )
    assert (row["ranks_seen"], row["ranks_expected"], row["last_rank"]) == (3, 3, 1)
    assert (row["wait_ns_max"], row["wait_ns_total"]) == (12, 12 + 7)
    assert (row["late_ns"], row["transfer_ns"], row["start_ns"]) == (7, 7, 0)
    assert row["clock_residual_ns"] == 0
    # 14 B in 7 ns are 2 GB/s; all-reduce moves each byte 2(n-1)/n = 4/3 times
    assert row["algbw_gbs"] == 2.0
    assert row["busbw_gbs"] == pytest.approx(2.0 * 4 / 3)


@pytest.mark.parametrize(
    ("kind", "factor"),
    [
        ("all_reduce", 2 * 3 / 4),
        ("_allgather_base", 3 / 4),
        ("reduce_scatter", 3 / 4),
        ("all_to_allv", 3 / 4),
        ("barrier", None),
    ],
)
def test_bus_bandwidth_of_four_ranks(kind: str, factor: float | None) -> None:
    rows = [seen(r, 0, 8, kind=kind, group_size=4, bytes_total=16) for r in range(4)]
    (row,) = measure(*rows)
    assert row["algbw_gbs"] == 2.0
    assert row["busbw_gbs"] == (None if factor is None else 2.0 * factor)


def test_arrivals_closer_than_the_clocks_are_a_tie() -> None:
    # the ends, one instant in truth, are 5 apart: an arrival 4 later proves nothing
    (row,) = measure(seen(0, 0, 20), seen(1, 4, 25))
    assert (row["clock_residual_ns"], row["late_ns"]) == (5, 4)
    assert row["last_rank"] is None


@pytest.mark.parametrize("count", [1, 5])
def test_traces_of_other_times_are_not_one_collective(count: int) -> None:
    # rank 1 was traced a day later: rank 0 left long before it came, which cannot be
    day = 86_400 * 10**9
    rows = measure(
        *(seen(0, 100 * n, 100 * n + 50, sequence=n) for n in range(count)),
        *(seen(1, day + 100 * n, day + 100 * n + 50, sequence=n) for n in range(count)),
    )
    assert len(rows) == count
    for row in rows:
        assert row["ranks_seen"] == 2
        assert (row["wait_ns_max"], row["late_ns"], row["last_rank"]) == (None,) * 3
        assert (row["transfer_ns"], row["clock_residual_ns"]) == (None, None)


def test_equal_arrivals_name_nobody() -> None:
    (row,) = measure(seen(0, 5, 20), seen(1, 5, 20))
    assert (row["late_ns"], row["last_rank"], row["wait_ns_total"]) == (0, None, 0)


def test_a_broadcast_waits_for_a_root_that_nobody_names() -> None:
    (row,) = measure(seen(0, 0, 9, kind="broadcast"), seen(1, 6, 9, kind="broadcast"))
    assert (row["ranks_seen"], row["wait_ns_total"], row["last_rank"]) == (
        2,
        None,
        None,
    )
    assert row["transfer_ns"] is None


def test_a_kind_that_nobody_knows_tells_no_wait() -> None:
    (row,) = measure(seen(0, 0, 9, kind="unknown"), seen(1, 6, 9, kind="unknown"))
    assert (row["wait_ns_total"], row["transfer_ns"]) == (None, None)


def test_a_hang_has_arrivals_but_no_transfer() -> None:
    one = {"host": "node-1"}
    (row,) = measure(seen(0, 0, None, **one), seen(1, 6, None, **one))
    assert (row["wait_ns_max"], row["last_rank"]) == (6, 1)
    assert row["transfer_ns"] is None


def test_a_hang_across_clocks_that_nothing_connects_tells_no_wait() -> None:
    (row,) = measure(seen(0, 0, None, host="node-1"), seen(1, 6, None, host="node-2"))
    assert (row["wait_ns_max"], row["last_rank"]) == (None, None)


def test_of_a_hosts_clock_only_durations_count() -> None:
    # hosts are 1,000 apart; rank 1 was in it for 3 of the 10: it came 7 later
    (row,) = measure(
        seen(0, 1_000, 1_010, time_basis="cpu"), seen(1, 0, 3, time_basis="cpu")
    )
    assert (row["wait_ns_max"], row["last_rank"], row["transfer_ns"]) == (7, 1, 3)


def apart(offset: int, count: int) -> list[dict[str, Any]]:
    """Rank 1 comes 3 us after rank 0; its clock is ahead by the offset."""
    clocks = {0: 0, 1: offset}
    return measure(
        *(
            seen(
                rank,
                number * 1_000_000 + clock + 3_000 * rank,
                number * 1_000_000 + clock + 10_000 + number % 2,
                sequence=number,
            )
            for number in range(count)
            for rank, clock in clocks.items()
        )
    )


def test_clocks_that_are_apart_are_brought_together_by_the_ends() -> None:
    rows = apart(-400_000, 3)
    assert [row["wait_ns_max"] for row in rows] == [3_000] * 3
    assert [row["last_rank"] for row in rows] == [1] * 3
    assert [row["clock_residual_ns"] for row in rows] == [0] * 3
    assert [row["transfer_ns"] for row in rows] == [7_000, 7_001, 7_000]


def test_what_may_be_no_clock_stays_and_is_told() -> None:
    # no more than ranks leave apart: few or many, the ends say how far to trust it
    for rows in (apart(20_000, 2), apart(20_000, 9)):
        assert {row["clock_residual_ns"] for row in rows} == {20_000}
        assert {row["last_rank"] for row in rows} <= {None, 1}
        assert {row["wait_ns_max"] for row in rows} == {23_000}


def test_across_clocks_that_nothing_connects_no_wait_is_told() -> None:
    # two collectives connect no clocks, and their ends are further apart than ranks
    rows = apart(400_000, 2)
    assert {row["wait_ns_max"] for row in rows} == {None}
    assert {row["clock_residual_ns"] for row in rows} == {None}
    assert {row["last_rank"] for row in rows} == {None}


def test_a_clock_that_is_an_hour_off_is_brought_back() -> None:
    rows = apart(3600 * 10**9, 5)
    assert [row["wait_ns_max"] for row in rows] == [3_000] * 5
    assert [row["last_rank"] for row in rows] == [1] * 5


def test_a_profile_that_was_copied_counts_once() -> None:
    parts = [seen(r, t + 6 * r, t + 20, sequence=t) for t in (0, 30) for r in (0, 1)]
    copies = [part | {"trace_id": f"copy {part['rank']}"} for part in parts]
    # the copies go on for longer than the profiles that they are of
    more = [seen(r, 60, 70, sequence=60, trace_id=f"copy {r}") for r in (0, 1)]
    rows = measure(*copies, *more, *parts)
    assert [(row["ranks_seen"], row["wait_ns_total"]) for row in rows] == [
        (2, 6),
        (2, 6),
        (2, 0),
    ]


def test_nothing_seen_nothing_told() -> None:
    assert measure() == []
    assert CollectiveWaits.is_valid(measure_waits(collectives(), NO_ATTEMPTS))


def test_a_copy_of_a_profile_waits_as_the_profile_does() -> None:
    # a send and its receive, and an all-reduce; the copies are of other traces
    pair = {"is_p2p": True, "p2p_sequence": 1, "sequence": None}
    parts = [
        seen(0, 0, 20),
        seen(1, 6, 20),
        seen(0, 30, 50, kind="send", peer_rank=1, **pair),
        seen(1, 25, 50, kind="recv", peer_rank=0, **pair),
    ]
    copies = [part | {"trace_id": f"u{part['rank']}"} for part in parts]
    given = collectives(*parts, *copies)
    waits = rank_waits(given, NO_ATTEMPTS).collect()
    of_trace = {
        trace: waits.filter(trace_id=trace).sort("start_ns")["wait_ns"].to_list()
        for trace in ("t0", "t1", "u0", "u1")
    }
    assert of_trace == {"t0": [6, 0], "t1": [0, 5], "u0": [6, 0], "u1": [0, 5]}
