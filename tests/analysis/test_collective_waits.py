"""Waits, transfers and bandwidths of collectives, on drawn timelines."""

from typing import Any

import dataframely as dy
import polars as pl
import pytest

from analysis.attempts import Attempts
from analysis.collective_waits import CollectiveWaits, measure_waits
from ingest.tables import Collectives

NO_ATTEMPTS = Attempts.create_empty().lazy()


def seen(rank: int | None, start: int, end: int | None, **told: Any) -> dict[str, Any]:
    """What a rank saw of a collective of a group of two."""
    duration = None if end is None else end - start
    return {
        "file_id": f"f{rank}",
        "run_id": "run",
        "attempt": 0,
        "trace_id": f"t{rank}",
        "rank": rank,
        "group_id": "dp",
        "group_size": 2,
        "kind": "allreduce",
        "is_p2p": False,
        "sequence": 1,
        "match_method": "sequence",
        "start_ns": start,
        "end_ns": end,
        "duration_ns": duration,
        "time_basis": "gpu",
        "state": "completed" if end is not None else "started",
    } | told


def collectives(*rows: dict[str, Any]) -> dy.LazyFrame[Collectives]:
    numbered = [{"event": event} | row for event, row in enumerate(rows)]
    frame = pl.DataFrame(numbered, schema=Collectives.create_empty().schema)
    return Collectives.validate(frame).lazy()


def measure(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    return measure_waits(collectives(*rows), NO_ATTEMPTS).to_dicts()


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


def test_arrivals_closer_than_the_clocks_are_a_tie() -> None:
    # the ends, one instant in truth, are 5 apart: an arrival 4 later proves nothing
    (row,) = measure(seen(0, 0, 20), seen(1, 4, 25))
    assert (row["clock_residual_ns"], row["late_ns"]) == (5, 4)
    assert row["last_rank"] is None


def test_equal_arrivals_name_nobody() -> None:
    (row,) = measure(seen(0, 5, 20), seen(1, 5, 20))
    assert (row["late_ns"], row["last_rank"], row["wait_ns_total"]) == (0, None, 0)


def test_a_receive_waits_for_its_send_and_pairs_do_not_mix() -> None:
    # time    0    5    10        a stage of a pipeline: 0 -> 1 -> 2, counters differ
    # rank 1  #######             receives from 0, then sends to 2
    # rank 0      ###             sends late: rank 1 waits 4
    # rank 1         ##
    # rank 2        ###           receives 1 before the send
    p2p = {"is_p2p": True, "group_size": 3, "sequence": None, "group_id": "pp"}
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
    p2p = {"is_p2p": True, "sequence": None}
    (row,) = measure(
        seen(0, 0, 9, kind="send", peer_rank=1, p2p_sequence=5, **p2p),
        seen(1, 6, 9, kind="recv", peer_rank=0, p2p_sequence=5, **p2p),
    )
    assert (row["wait_ns_total"], row["last_rank"], row["sequence"]) == (0, None, 5)
    assert row["match_method"] == "sequence"


def test_a_broadcast_waits_for_a_root_that_nobody_names() -> None:
    (row,) = measure(seen(0, 0, 9, kind="broadcast"), seen(1, 6, 9, kind="broadcast"))
    assert (row["ranks_seen"], row["wait_ns_total"], row["last_rank"]) == (
        2,
        None,
        None,
    )
    assert row["transfer_ns"] is None


def test_a_hang_has_arrivals_but_no_transfer() -> None:
    (row,) = measure(seen(0, 0, None), seen(1, 6, None))
    assert (row["wait_ns_max"], row["last_rank"]) == (6, 1)
    assert row["transfer_ns"] is None


def test_of_a_hosts_clock_only_durations_count() -> None:
    # hosts are 1,000 apart; rank 1 was in it for 3 of the 10: it came 7 later
    (row,) = measure(
        seen(0, 1_000, 1_010, time_basis="cpu"), seen(1, 0, 3, time_basis="cpu")
    )
    assert (row["wait_ns_max"], row["last_rank"], row["transfer_ns"]) == (7, 1, 3)


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


def test_nothing_seen_nothing_told() -> None:
    assert measure() == []
    assert CollectiveWaits.is_valid(measure_waits(collectives(), NO_ATTEMPTS))
