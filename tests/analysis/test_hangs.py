"""Hangs drawn by hand: who stands where, and who is named."""

from typing import Any

import polars as pl
import pytest

from analysis.hangs import Hangs, HangSuspects, HangWaits
from ingest.tables import Collectives, GroupStatus
from tests.analysis.hanging import Read, find, named, only, whole

MS = 10**6
START = 1_772_445_600 * 10**9
WORLD = "0:[0,1,2,3]"


def entry(rank: int, number: int, **told: Any) -> dict[str, Any]:
    """Return a collective of a group of four that a rank has open."""
    known = {
        "run_id": "run",
        "trace_id": f"dump-{rank}",
        "event": number,
        "rank": rank,
        "group_id": WORLD,
        "group_size": 4,
        "kind": "allreduce",
        "is_p2p": False,
        "sequence": number,
        "match_method": "sequence",
        "bytes_total": 1024,
        "dtype": "Float",
        "enqueue_ns": START + number * MS,
        "time_basis": "cpu",
        "state": "scheduled",
    }
    return known | told


def done(rank: int, number: int, after_ns: int = MS, **told: Any) -> dict[str, Any]:
    """Return a collective that ended some time after its request."""
    end_ns = START + number * MS + after_ns
    return entry(rank, number, state="completed", end_ns=end_ns, **told)


def pair(rank: int, kind: str, peer: int, **told: Any) -> dict[str, Any]:
    """Return a send or receive that a rank has open."""
    known = {"is_p2p": True, "kind": kind, "peer_rank": peer, "sequence": None}
    return entry(rank, 1, **known, p2p_sequence=1, parallel_kind="pp", **told)


def status(rank: int, enqueued: int, completed: int, **told: Any) -> dict[str, Any]:
    known = {
        "run_id": "run",
        "dump_id": f"dump-{rank}",
        "group_id": WORLD,
        "group_size": 4,
        "rank": rank,
        "last_enqueued": enqueued,
        "last_completed": completed,
    }
    return known | told


def rows(
    entries: list[dict[str, Any]], statuses: list[dict[str, Any]] | None = None
) -> Read:
    """Return rows as frames of their tables."""
    told = {Collectives: entries, GroupStatus: statuses or []}
    return {
        table: whole(
            table, [pl.DataFrame(some, infer_schema_length=None)] if some else []
        )
        for table, some in told.items()
    }


def rule(rank: int, read: Read) -> str | None:
    suspects = find(read)[HangSuspects]
    found = suspects.filter(rank=rank)["rule"].to_list()
    return found[0] if found else None


def test_who_never_entered_is_named() -> None:
    # 0, 1 and 2 stand at the second all-reduce; 3 has ended the first and asks no more
    read = rows([*(done(r, 1) for r in range(4)), *(entry(r, 2) for r in range(3))])
    assert named(find(read)) == [3]
    assert rule(3, read) == "never_entered"
    assert only(find(read))["kind"] == "rank_stuck"
    assert "rank 3: never entered allreduce 2" in only(find(read))["verdict"]


def test_an_empty_dump_belongs_to_the_hang_that_lacks_its_rank() -> None:
    entries = [entry(r, 2) for r in range(3)]
    statuses = [*(status(r, 2, 1) for r in range(3)), status(3, 1, 1)]
    found = find(rows(entries, statuses))
    assert named(found) == [3]
    assert only(found)["ranks_missing"] == 0
    assert "its buffer is empty" in only(found)["verdict"]


def test_a_rank_without_a_dump_is_named_where_nothing_else_explains_it() -> None:
    found = find(rows([entry(r, 2) for r in range(3)]))
    assert named(found) == [3]
    assert only(found)["kind"] == "rank_dead"


def test_a_blocked_rank_is_excused_by_what_it_waits_for() -> None:
    # 3 never enters the tensor group 2-3; 2 waits there, and 0 and 1 for 2 and 3;
    # the host of 2 has asked for what 0 and 1 wait in, its GPU has not reached it
    tp = {"group_id": "1:[2,3]", "group_size": 2, "parallel_kind": "tp"}
    read = rows(
        [
            *(done(r, 1) for r in range(4)),
            *(done(r, 2) | tp for r in (2, 3)),
            entry(2, 3) | tp,
            *(entry(r, 4, sequence=2) for r in (0, 1, 2)),
        ]
    )
    found = find(read)
    assert named(found) == [3]
    depth = dict(found[HangSuspects].select("rank", "depth").rows())
    assert depth == {3: 0, 2: 1, 0: 1, 1: 1}


def test_an_abort_that_counts_as_completed_makes_nobody_older() -> None:
    # dumps of open entries alone: 2 aborted what 0 and 1 show open, and 3 never entered
    told = [status(0, 2, 1), status(1, 2, 1), status(2, 2, 2), status(3, 1, 1)]
    found = find(rows([entry(0, 2), entry(1, 2)], told))
    assert named(found) == [3]
    assert only(found)["ranks_elsewhen"] == 0


def test_all_of_a_dead_node_are_named_though_one_is_waited_for() -> None:
    # 0 and 1 wait for 2; nobody waits for 3 in their group, and it left no dump either
    tp = {"group_id": "1:[0,1,2]", "group_size": 3, "parallel_kind": "tp"}
    found = find(
        rows(
            [entry(r, 2) | tp for r in (0, 1)],
            [status(r, 1, 1) for r in (0, 1)],
        )
    )
    suspects = found[HangSuspects].filter("is_candidate").sort("rank")
    assert suspects.select("rank", "rule").rows() == [
        (2, "no_dump"),
        (3, "no_dump_either"),
    ]
    assert only(found)["kind"] == "rank_dead"


def test_a_rank_that_is_behind_and_that_nobody_waits_for_is_named() -> None:
    # 3 never enters; 1 has asked for less than 0 in their group, where all has ended
    tp = {"group_id": "1:[0,1]", "group_size": 2, "parallel_kind": "tp"}
    found = find(
        rows(
            [*(done(r, 1) for r in range(4)), *(entry(r, 2) for r in range(3))],
            [status(0, 5, 5) | tp, status(1, 4, 4) | tp],
        )
    )
    suspects = found[HangSuspects].filter("is_candidate").sort("rank")
    assert suspects.select("rank", "rule", "depth").rows() == [
        (1, "asked_less", 0),
        (3, "never_entered", 0),
    ]
    assert "asked for 4 collectives" in suspects["evidence"][0]


@pytest.mark.parametrize(
    ("change", "kind", "broken"),
    [
        ({"kind": "allgather"}, "wrong_collective", "other_kind"),
        ({"bytes_total": 2048}, "wrong_size", "other_size"),
        ({"dtype": "Half"}, "wrong_size", "other_dtype"),
    ],
)
def test_who_entered_something_else_is_named(
    change: dict[str, Any], kind: str, broken: str
) -> None:
    read = rows([*(entry(r, 2) for r in range(3)), entry(3, 2) | change])
    assert named(find(read)) == [3]
    assert rule(3, read) == broken
    assert only(find(read))["kind"] == kind


def test_sizes_of_an_all_to_all_may_differ() -> None:
    uneven = [entry(r, 2, kind="alltoall", bytes_total=64 * (r + 1)) for r in range(3)]
    assert named(find(rows(uneven))) == [3]


def test_of_two_that_disagree_both_are_named() -> None:
    two = {"group_id": "1:[0,1]", "group_size": 2}
    read = rows([entry(0, 2) | two, entry(1, 2) | two | {"kind": "allgather"}])
    assert named(find(read)) == [0, 1]


def test_who_never_sent_is_named() -> None:
    # 1 waits for what 0 sends, 2 for what 1 sends; 0 has ended all that it asked for
    pp = {"group_id": "1:[0,1,2]", "group_size": 3}
    read = rows(
        [done(0, 1), done(1, 1), pair(1, "recv", 0) | pp, pair(2, "recv", 1) | pp]
    )
    found = find(read)
    assert named(found) == [0]
    assert only(found)["kind"] == "group_starved"


def test_what_timeouts_abort_has_not_ended_well() -> None:
    # three saw the second one end three minutes later, when it was given up
    late = 180 * 1000 * MS
    read = rows(
        [*(done(r, 1) for r in range(4)), *(done(r, 2, late) for r in range(3))]
    )
    assert named(find(read)) == [3]


def test_a_long_wait_that_ended_for_the_last_at_once_is_none() -> None:
    late = 180 * 1000 * MS
    last = done(3, 2) | {"enqueue_ns": START + late, "end_ns": START + late + MS}
    read = rows([*(done(r, 2, late) for r in range(3)), last])
    assert find(read)[Hangs].is_empty()


def test_who_has_not_started_is_named_where_others_have() -> None:
    started = [entry(r, 2, state="started") for r in range(3)]
    read = rows([*started, entry(3, 2)])
    assert named(find(read)) == [3]
    assert rule(3, read) == "not_started"


def test_more_than_four_are_counted_and_not_named() -> None:
    eight = {"group_id": "0:[0,1,2,3,4,5,6,7]", "group_size": 8}
    found = find(rows([entry(r, 2) | eight for r in range(8)]))
    assert named(found) == []
    assert only(found)["kind"] == "undecided"
    assert only(found)["candidates_count"] == 8


def test_dumps_of_different_moments_name_nobody() -> None:
    # a rank ended an all-reduce that the others had not asked for when they dumped
    read = rows(
        [
            *(done(r, 1) for r in range(4)),
            *(done(3, n) for n in range(2, 9)),
            entry(3, 9),
            entry(0, 2),
        ]
    )
    found = find(read)
    assert named(found) == []
    assert "different moments" in only(found)["verdict"]


def test_of_copies_of_a_dump_one_counts() -> None:
    once = [entry(r, 2) for r in range(3)]
    again = [row | {"trace_id": f"copy-{row['rank']}"} for row in once]
    first, second = find(rows(once)), find(rows(once + again))
    assert first[Hangs].equals(second[Hangs])
    assert first[HangWaits].equals(second[HangWaits])


def test_members_of_a_large_group_follow_from_its_first_ones() -> None:
    first = ",".join(str(2 * n) for n in range(30))
    group = {"group_id": f"0:[{first},...]:x32", "group_size": 32}
    read = rows([entry(2 * n, 2) | group for n in range(31)])
    assert named(find(read)) == [62]


@pytest.mark.parametrize("number", [0, 2**63 - 1, -1])
def test_numbers_at_the_ends_of_their_range(number: int) -> None:
    read = rows(
        [entry(r, 2, sequence=number) for r in range(3)],
        [status(3, -1, -1), status(0, number, number - 1 if number > 0 else -1)],
    )
    assert set(named(find(read))) <= {3}


def test_without_dumps_there_is_no_hang() -> None:
    found = find(rows([]))
    assert all(frame.is_empty() for frame in found.values())
