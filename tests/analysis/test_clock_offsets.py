"""What is told of clocks: who is held against whom, what is taken out, what is not."""

import polars as pl
import pytest

from analysis._clock_told import EXIT_NS
from analysis.clock_offsets import find_clock_offsets
from analysis.gpus import Gpus
from tests.analysis.collectives import NO_ATTEMPTS, collectives, measure, seen
from tests.analysis.meetings import AHEAD, met, offsets


def test_the_first_clock_is_the_reference() -> None:
    zero, one = offsets(*met(3, {0: 0, 1: AHEAD}))
    assert (zero["clock"], zero["state"], zero["offset_ns"]) == (
        "node-0",
        "reference",
        0,
    )
    assert (one["state"], one["offset_ns"], one["reference_clock"]) == (
        "estimated",
        AHEAD,
        "node-0",
    )
    assert (one["drift_ppm"], one["residual_ns"], one["collectives_count"]) == (
        None,
        0,
        3,
    )
    assert (one["is_corrected"], zero["is_corrected"]) == (True, False)
    assert one["reason"] is None


def test_hosts_that_share_no_collective_are_unknown() -> None:
    # three hosts meet, two others meet, one meets nobody
    rows = offsets(
        *met(4, {0: 0, 1: AHEAD, 2: 0}), *met(4, {3: 0, 4: 7_000}), *met(4, {5: 0})
    )
    assert [row["state"] for row in rows] == [
        "reference",
        *["estimated"] * 2,
        *["unknown"] * 3,
    ]
    assert [row["component"] for row in rows] == [0, 0, 0, 1, 1, 2]
    assert [row["offset_ns"] for row in rows[3:]] == [0, 7_000, None]
    reason = "fewer than 3 collectives that all leave together connect it to node-0"
    assert {row["reason"] for row in rows[3:]} == {reason}


def test_two_meetings_are_too_few() -> None:
    zero, one = offsets(*met(2, {0: 0, 1: AHEAD}))
    assert (zero["state"], one["state"], one["offset_ns"]) == (
        "reference",
        "unknown",
        None,
    )


@pytest.mark.parametrize("kind", ["broadcast", "reduce", "send"])
def test_one_directional_kinds_say_nothing_of_clocks(kind: str) -> None:
    told = {"is_p2p": True, "p2p_sequence": 1} if kind == "send" else {}
    rows = offsets(*met(9, {0: 0, 1: AHEAD}, kind=kind, **told))
    assert [row["state"] for row in rows] == ["reference", "unknown"]


def test_ranks_of_a_host_share_its_clock() -> None:
    rows = met(3, {0: 0, 1: 9_000, 2: AHEAD, 3: AHEAD}, host=None)
    hosts = {0: "a", 1: "a", 2: "b", 3: "b"}
    told = offsets(*(row | {"host": hosts[row["rank"]]} for row in rows))
    assert [row["clock"] for row in told] == ["a", "b"]
    # the middle of a host's ends: 4,500
    assert told[1]["offset_ns"] == AHEAD - 4_500


def test_traces_of_a_host_that_disagree_are_clocks_of_their_own() -> None:
    # two profilers of one host that set their clocks apart: 100 us cannot be exits
    rows = met(5, {0: 0, 1: 100_000}, host="a")
    zero, one = offsets(*rows)
    assert (zero["clock"], zero["host"]) == ("t0", "a")
    assert (one["clock"], one["offset_ns"], one["is_corrected"]) == (
        "t1",
        100_000,
        True,
    )
    assert {row["clock_residual_ns"] for row in measure(*rows)} == {0}


def test_traces_of_a_host_that_agree_are_one_clock() -> None:
    (row,) = offsets(*met(5, {0: 0, 1: 30_000}, host="a"))
    assert (row["clock"], row["state"], row["collectives_count"]) == (
        "a",
        "reference",
        0,
    )


def test_the_host_map_names_the_clock() -> None:
    gpus = pl.DataFrame(
        [
            {
                "run_id": "run",
                "attempt": 0,
                "rank": rank,
                "host": f"host-{rank}",
                "is_seen": True,
                "from_ns": 0,
                "to_ns": 1,
            }
            for rank in range(2)
        ],
        schema=Gpus.create_empty().schema,
    )
    rows = collectives(*met(3, {0: 0, 1: AHEAD}, host=None))
    found = find_clock_offsets(rows, NO_ATTEMPTS, Gpus.cast(gpus.lazy()))
    assert found["clock"].to_list() == ["host-0", "host-1"]
    assert found["host"].to_list() == ["host-0", "host-1"]


def test_traces_of_one_unknown_host_are_left_as_they_are() -> None:
    # no more apart than ranks leave: a correction would be noise
    rows = met(9, {0: 0, 1: 7_000}, host=None)
    _, one = offsets(*rows)
    assert (one["clock"], one["host"], one["offset_ns"]) == ("t1", None, 7_000)
    assert one["uncertainty_ns"] >= EXIT_NS
    assert not one["is_corrected"]
    assert {row["wait_ns_max"] for row in measure(*rows)} == {7_000}


def test_hosts_beside_one_that_is_off_are_brought_closer() -> None:
    rows = met(9, {0: 0, 1: 7_000, 2: AHEAD})
    assert [row["is_corrected"] for row in offsets(*rows)] == [False, True, True]
    assert {row["clock_residual_ns"] for row in measure(*rows)} == {0}


def test_a_send_across_hosts_is_told_by_their_clocks() -> None:
    # the send comes 90 us after the receive; its clock shows 400 us more
    p2p = {"is_p2p": True, "sequence": None, "p2p_sequence": 1, "group_id": "pp"}
    pair = [
        seen(0, 50_000, 300_000, kind="recv", peer_rank=1, host="node-0", **p2p),
        seen(1, 540_000, 700_000, kind="send", peer_rank=0, host="node-1", **p2p),
    ]
    joint = met(3, {0: 0, 1: AHEAD})
    (row,) = (row for row in measure(*pair, *joint) if row["is_p2p"])
    assert (row["wait_ns_max"], row["last_rank"]) == (90_000, 1)
    assert EXIT_NS <= row["clock_residual_ns"] < 2 * EXIT_NS
    (alone,) = measure(*pair)
    assert (alone["wait_ns_max"], alone["transfer_ns"]) == (None, None)


def test_no_clock_of_a_gpu_no_row() -> None:
    assert offsets() == []
    assert offsets(*met(3, {0: 0, 1: 0}, time_basis="cpu")) == []
