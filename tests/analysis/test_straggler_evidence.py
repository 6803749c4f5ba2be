"""Each rung of the ladder of causes, by a fault that makes exactly it."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from analysis.stragglers import StragglerEvidence, StragglerRanks
from ingest.tables import LinkSamples, PowerSamples
from tests.analysis.fleets import START_NS, STEP_NS, table
from tests.analysis.slow_rank import RANKS, SLOW, STEPS, cause, rung, search, slow_work

pytestmark = pytest.mark.thorough


def test_every_rung_is_listed_and_says_where_nothing_tells() -> None:
    results = search(slow_work())
    rows = results[StragglerEvidence]
    assert rows["rung"].to_list() == list(range(16))
    # the log tells that it is not a whole stage; of all else there is no telemetry
    assert set(rows.filter(pl.col("supports").is_not_null())["cause"]) == {
        "stage_imbalance"
    }
    assert rows["evidence"].null_count() == 0
    assert rows.filter(pl.col("supports").is_null())["rows_count"].sum() == 0
    assert cause(results) == "unknown"
    (row,) = results[StragglerRanks].to_dicts()
    assert set(rows["first_step"]) == {row["first_step"]}


def ports(counter: str, rate: Callable[[int, int], int]) -> pl.DataFrame:
    """Eight ports on two nodes; the counter rises by so much a second."""
    rows = [
        {
            "file_id": "l",
            "cluster": "pod",
            "host": f"node-{node}",
            "port": f"mlx5_{port}/1",
            "time_ns": START_NS + second * STEP_NS,
            counter: second * rate(node, port),
        }
        for node in range(2)
        for port in range(8)
        for second in range(STEPS)
    ]
    return table(LinkSamples, pl.DataFrame(rows))


@pytest.mark.parametrize(
    ("counter", "name"),
    [
        ("errors", "link_errors"),
        ("symbol_errors", "link_errors"),
        ("link_downs", "link_errors"),
        ("discards", "link_errors"),
        ("pauses", "congestion"),
        ("congestion_marks", "congestion"),
        ("retransmits", "congestion"),
    ],
)
def test_a_port_that_counts_more_than_the_jobs_others(counter: str, name: str) -> None:
    # rank 5 is on node-0 and uses mlx5_5
    bad = ports(counter, lambda node, port: 5 if (node, port) == (0, 5) else 0)
    results = search(slow_work(), (LinkSamples, bad))
    assert cause(results) == name
    told = rung(results, name)
    assert "port mlx5_5/1: 295" in told["evidence"]
    assert (told["table_name"], told["rows_count"]) == ("link_samples", STEPS)


def test_ports_of_others_and_counts_that_all_share_are_no_cause() -> None:
    other = ports("errors", lambda node, port: 5 if (node, port) == (0, 4) else 0)
    everyone = ports("errors", lambda node, port: 5)
    for links in (other, everyone):
        results = search(slow_work(), (LinkSamples, links))
        assert cause(results) == "unknown"
        assert rung(results, "link_errors")["supports"] is False


def test_a_transfer_that_makes_up_the_excess() -> None:
    transfer = np.full((STEPS, RANKS), 50_000_000)
    transfer[:, SLOW] += 190_000_000
    results = search(slow_work(), communication_ns=transfer.ravel())
    assert cause(results) == "slow_link"
    normal = search(slow_work(), communication_ns=50_000_000)
    assert rung(normal, "slow_link")["supports"] is False


def test_low_power_at_high_utilization_clears_and_is_never_the_cause() -> None:
    rows = [
        {
            "file_id": "p",
            "cluster": "pod",
            "host": f"node-{rank // 8}",
            "gpu_uuid": f"GPU-{rank}",
            "level": "gpu_board",
            "time_ns": START_NS + second * STEP_NS,
            "time_quality": "exact",
            "power_average_w": 380.0 if rank == SLOW else 640.0,
            "utilization_ratio": 1.0,
        }
        for rank in range(RANKS)
        for second in range(STEPS)
    ]
    power = table(PowerSamples, pl.DataFrame(rows))
    results = search(slow_work(), (PowerSamples, power))
    assert cause(results) == "unknown"
    told = rung(results, "victim")
    assert told["supports"] is True
    assert told["evidence"] == "380 W at 100.0 % utilization, the job's median 640 W"
    (row,) = results[StragglerRanks].to_dicts()
    assert row["evidence"].startswith("looks like a victim: 380 W")
