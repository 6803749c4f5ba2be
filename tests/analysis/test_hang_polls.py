"""Groups that make no progress over polls of RAS."""

from typing import Any

import polars as pl
import pytest

from analysis.hangs import Hangs, HangSuspects
from ingest.tables import Collectives, GroupStatus
from tests.analysis.hanging import Read, find, only, whole

S = 10**9
START = 1_772_445_600 * S


def answer(poll: int, rank: int, count: int, **told: Any) -> dict[str, Any]:
    known = {
        "run_id": "run",
        "dump_id": f"poll {poll}",
        "time_ns": START + poll * 60 * S,
        "group_id": "0xab",
        "group_size": 4,
        "kind": "allreduce",
        "rank_in_group": rank,
        "host": f"node-{rank // 2}",
        "rank_state": "answered",
        "last_enqueued": count,
    }
    return known | told


def absent(poll: int, rank: int, state: str) -> dict[str, Any]:
    gone = {"kind": None, "last_enqueued": None, "rank_state": state}
    return answer(poll, rank, 0) | gone


def rows(*told: dict[str, Any]) -> Read:
    frame = pl.DataFrame(list(told), infer_schema_length=None)
    return {
        Collectives: Collectives.create_empty(),
        GroupStatus: whole(GroupStatus, [frame]),
    }


def places(read: Read, **told: Any) -> list[int]:
    suspects = find(read, **told)[HangSuspects].filter("is_candidate")
    return sorted(suspects["rank_in_group"].to_list())


def polls(counts: list[list[int]]) -> Read:
    """Return polls of four ranks, a list of counts each."""
    return rows(
        *(
            answer(n, r, count)
            for n, one in enumerate(counts)
            for r, count in enumerate(one)
        )
    )


def test_who_is_behind_over_three_polls_is_named() -> None:
    read = polls([[8, 8, 8, 7]] * 3)
    assert places(read) == [3]
    assert only(find(read))["kind"] == "rank_stuck"
    (suspect,) = find(read)[HangSuspects].filter("is_candidate").to_dicts()
    assert suspect["host"] == "node-1"


def test_different_counts_of_ranks_that_run_are_normal() -> None:
    read = polls([[8, 8, 8, 7], [9, 9, 8, 8], [10, 10, 9, 9]])
    assert find(read)[Hangs].is_empty()


def test_two_polls_are_too_few() -> None:
    read = polls([[8, 8, 8, 7]] * 2)
    assert find(read)[Hangs].is_empty()
    assert places(read, least_polls=2) == [3]


def test_a_group_that_rests_has_equal_counts() -> None:
    assert find(polls([[8, 8, 8, 8]] * 5))[Hangs].is_empty()


def test_a_dead_rank_is_named_at_once() -> None:
    read = rows(*(answer(0, r, 8) for r in range(3)), absent(0, 3, "dead"))
    assert places(read) == [3]
    assert only(find(read))["kind"] == "rank_dead"


@pytest.mark.parametrize("state", ["missing", "unresponsive"])
def test_a_silent_rank_is_named_after_three_polls(state: str) -> None:
    told = [*(answer(0, r, 8) for r in range(3)), absent(0, 3, state)]
    assert find(rows(*told))[Hangs].is_empty()
    later = [
        row | {"time_ns": START + n * 60 * S, "dump_id": f"poll {n}"}
        for n in range(3)
        for row in told
    ]
    assert places(rows(*later)) == [3]


def test_messages_sent_may_differ_for_ever() -> None:
    read = rows(
        *(answer(n, r, r, kind="send") for n in range(4) for r in range(4)),
        *(answer(n, r, 8) for n in range(4) for r in range(4)),
    )
    assert find(read)[Hangs].is_empty()
