"""Ranks find each other: by number, by order, by pair, and in their attempt."""

import polars as pl

from analysis.attempts import Attempts
from analysis.collective_waits import measure_waits
from tests.analysis.collectives import collectives, measure, seen


def test_a_missing_rank_leaves_one_incomplete_and_shifts_nothing() -> None:
    # rank 1 has lost number 2: 1 and 3 still find their partners
    first, second, third = measure(
        *(
            seen(0, start, start + 5, sequence=n)
            for n, start in ((1, 0), (2, 10), (3, 20))
        ),
        *(seen(1, start, start + 4, sequence=n) for n, start in ((1, 1), (3, 21))),
    )
    assert [r["ranks_seen"] for r in (first, second, third)] == [2, 1, 2]
    assert (second["last_rank"], second["wait_ns_max"]) == (None, None)
    assert (second["transfer_ns"], second["late_ns"]) == (None, None)
    assert (first["wait_ns_max"], third["wait_ns_max"]) == (1, 1)
    assert (first["last_rank"], third["last_rank"]) == (1, 1)


def test_without_numbers_the_order_of_each_rank_counts() -> None:
    rows = [
        seen(rank, start + late, start + 9, sequence=None, match_method="order")
        for rank, late in ((0, 0), (1, 3))
        for start in (100, 200)
    ]
    first, second = measure(*rows)
    assert [first["match_method"], first["sequence"]] == ["order", None]
    assert (first["wait_ns_max"], second["wait_ns_max"]) == (3, 3)
    assert (first["start_ns"], second["start_ns"]) == (100, 200)


def test_order_holds_within_a_step_where_every_row_knows_its_step() -> None:
    # rank 1 was not traced in step 7: its only collective is of step 8
    seven, eight = measure(
        seen(0, 100, 110, sequence=None, match_method="order", step=7),
        seen(0, 200, 210, sequence=None, match_method="order", step=8),
        seen(1, 204, 210, sequence=None, match_method="order", step=8),
    )
    assert (seven["step"], seven["ranks_seen"]) == (7, 1)
    assert (eight["step"], eight["ranks_seen"], eight["wait_ns_max"]) == (8, 2, 4)


def test_a_receive_waits_for_its_send_and_pairs_do_not_mix() -> None:
    # time    0    5    10        a stage of a pipeline: 0 -> 1 -> 2, counters differ
    # rank 1  #######             receives from 0, then sends to 2
    # rank 0      ###             sends late: rank 1 waits 4
    # rank 1         ##
    # rank 2        ###           receives 1 before the send
    p2p = {"is_p2p": True, "group_size": 3, "sequence": None, "group_id": "pp"}
    p2p["host"] = "node-1"
    first, second = measure(
        seen(0, 4, 7, kind="send", peer_rank=1, p2p_sequence=1, **p2p),
        seen(1, 0, 7, kind="recv", peer_rank=0, p2p_sequence=1, **p2p),
        seen(1, 7, 9, kind="send", peer_rank=2, p2p_sequence=2, **p2p),
        seen(2, 6, 9, kind="recv", peer_rank=1, p2p_sequence=1, **p2p),
    )
    assert (first["group_id"], first["kind"]) == ("pp 0>1", "send_recv")
    assert (first["wait_ns_total"], first["last_rank"], first["transfer_ns"]) == (
        4,
        0,
        3,
    )
    assert (second["group_id"], second["wait_ns_total"]) == ("pp 1>2", 1)
    assert (second["ranks_seen"], second["ranks_expected"]) == (2, 2)


def test_a_send_that_is_early_makes_nobody_wait() -> None:
    p2p = {"is_p2p": True, "sequence": None, "host": "node-1"}
    (row,) = measure(
        seen(0, 0, 9, kind="send", peer_rank=1, p2p_sequence=5, **p2p),
        seen(1, 6, 9, kind="recv", peer_rank=0, p2p_sequence=5, **p2p),
    )
    assert (row["wait_ns_total"], row["last_rank"], row["sequence"]) == (0, None, 5)
    assert row["match_method"] == "sequence"


def test_numbers_that_start_again_are_other_collectives() -> None:
    first, second = measure(
        *(seen(0, start, start + 5) for start in (0, 1_000)),
        *(seen(1, start, start + 3) for start in (2, 1_002)),
    )
    assert (first["wait_ns_max"], second["wait_ns_max"]) == (2, 2)


def test_a_send_recv_kernel_without_a_peer_is_joint_where_counts_agree() -> None:
    unnamed = {"kind": "sendrecv", "sequence": None, "match_method": "order"}
    (even,) = measure(seen(0, 0, 9, **unnamed), seen(1, 6, 9, **unnamed))
    assert even["last_rank"] == 1
    uneven = measure(
        seen(0, 0, 9, **unnamed), seen(0, 20, 29, **unnamed), seen(1, 6, 9, **unnamed)
    )
    assert [row["last_rank"] for row in uneven] == [None, None]


def test_traces_are_placed_in_the_attempt_they_start_in() -> None:
    # GIVEN the same number in two attempts, in traces that do not tell theirs
    rows = [
        seen(rank, start, start + 5, attempt=None, trace_id=f"t{rank}-{start}")
        for rank in (0, 1)
        for start in (100, 500)
    ]
    starts = [
        {
            "run_id": "run",
            "attempt": attempt,
            "basis": "jobs",
            "start_ns": start,
            "end_ns": start,
            "is_running": False,
        }
        for attempt, start in enumerate((0, 400))
    ]
    attempts = pl.DataFrame(starts, schema=Attempts.create_empty().schema)
    # WHEN they are brought together
    found = measure_waits(collectives(*rows), Attempts.validate(attempts).lazy())
    # THEN each attempt has its own
    assert found["attempt"].to_list() == [0, 1]
    assert found["ranks_seen"].to_list() == [2, 2]
