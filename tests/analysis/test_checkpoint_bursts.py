"""What the store has to take, by hand."""

from typing import Any

import pytest

from analysis.checkpoint_bursts import CheckpointBursts, find_bursts
from analysis.checkpoint_models import Costs, exact_ettr, exact_interval
from ingest.times import DAY_NS
from tests.analysis.saving import S, evidence

Row = dict[str, Any]

CARD = {"store_gbs": 20.0, "local_gbs": 10.0, "network_gbs": 50.0}


def bursts_of(**other: Any) -> dict[str, Row]:
    found = CheckpointBursts.validate(find_bursts(evidence(**other)))
    return {row["scheme"]: row for row in found.iter_rows(named=True)}


def test_three_ways_to_write_160_gb_by_hand() -> None:
    # 160 GB at 20 GB/s: 8 s; 80 GB of each of two nodes at 10 GB/s: 8 s; 16 writers of
    # 50 GB/s push 800 GB/s, 40 times what the store takes
    rows = bursts_of(**CARD | {"local_gbs": 40.0})
    direct, two, turns = (rows[one] for one in ("direct", "two_tier", "staggered"))
    assert {row["burst_ns"] for row in rows.values()} == {8 * S}
    assert (direct["stall_ns"], direct["flush_ns"]) == (8 * S, 8 * S)
    assert (two["stall_ns"], two["flush_ns"]) == (2 * S, 10 * S)
    assert direct["demand_ratio"] == two["demand_ratio"] == 40
    # 16 writers can take no more than 16 turns, and one of them is still too fast
    assert turns["turn_count"] == 16
    assert turns["demand_ratio"] == 2.5
    assert turns["flush_ns"] == two["flush_ns"]
    # spread over 3600 s of work and 50 s of stall
    assert direct["least_gbs"] == pytest.approx(160 / 3650)


def test_what_a_way_of_writing_saves_against_what_is_in_use() -> None:
    two = bursts_of(**CARD | {"local_gbs": 40.0})["two_tier"]
    costs = Costs(10_000, 2, 300, 100, lag_s=8)
    best = exact_interval(costs)
    assert two["interval_ns"] == round(best * S)
    assert two["waste_ratio"] == pytest.approx(1 - exact_ettr(best, costs))
    used = exact_ettr(3600, Costs(10_000, 50, 300, 100))
    saved = (exact_ettr(best, costs) - used) * 16 * DAY_NS
    assert float(two["saved_gpu_ns_per_day"]) == pytest.approx(saved)
    assert two["busy_ratio"] == pytest.approx(8 / (best + 2))


def test_writers_slower_than_the_store_set_the_pace() -> None:
    # 16 writers of 0.5 GB/s push 8 GB/s into a store of 20: 160 GB take 20 s
    direct = bursts_of(**CARD | {"network_gbs": 0.5})["direct"]
    assert direct["burst_ns"] == 20 * S
    assert direct["demand_ratio"] == 0.4


def test_a_store_is_known_by_its_saves_too() -> None:
    # 160 GB that were safe after 32 s: 5 GB/s
    rows = bursts_of(flush_ns=32 * S)
    assert (rows["direct"]["store_gbs"], rows["direct"]["store_basis"]) == (5, "saves")
    assert rows["direct"]["turn_count"] is None
    assert rows["direct"]["burst_ns"] == 32 * S
    assert "local_gbs" in rows["two_tier"]["reason"]
    # of parameters alone no rate follows
    guessed = bursts_of(flush_ns=32 * S, bytes_basis="parameters")["direct"]
    assert "store_gbs" in guessed["reason"]


@pytest.mark.parametrize("rate", [1e-300, 5e-324])
def test_a_rate_of_next_to_nothing_is_no_time(rate: float) -> None:
    for fields in ({"store_gbs": rate}, {"local_gbs": rate}):
        two = bursts_of(**CARD | fields)["two_tier"]
        assert two["reason"] == "a save would take longer than a year"
        assert two["burst_ns"] is None


def test_what_is_missing_is_named() -> None:
    assert "size" in bursts_of(bytes=None, bytes_basis="none")["direct"]["reason"]
    assert "nodes" in bursts_of(**CARD, node_count=None)["two_tier"]["reason"]
    blind = bursts_of(**CARD, mtbf_ns=None, mtbf_words="nothing tells")["direct"]
    assert blind["reason"] == "no best interval: nothing tells"
    assert blind["burst_ns"] == 8 * S
    unseen = bursts_of(**CARD, stall_ns=None, stall_basis="none")["direct"]
    assert unseen["interval_ns"] is not None
    assert unseen["saved_gpu_ns_per_day"] is None
