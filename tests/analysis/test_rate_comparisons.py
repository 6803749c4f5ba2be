"""Our rates beside published ones, and at other sizes, over drawn fleets."""

import polars as pl
import pytest

from analysis.published_rates import PUBLISHED
from analysis.rate_comparisons import ANALYSIS, RateComparisons
from analysis.rate_projections import ANALYSIS as PROJECTIONS
from analysis.rate_projections import SIZES, RateProjections
from analysis.rate_ratios import rate_ratio
from ingest.times import DAY_NS
from tests.analysis.failing import Row, Tables, ask, attempt, tables, xid

NODES = ",".join(f"n{number}" for number in range(100))


def fleet(failures: int, days: float = 20) -> Tables:
    """100 nodes for some days; hardware fails on a node each, and stops nothing."""
    held = [attempt("r", 0, 0, days, NODES, state="COMPLETED")]
    lines: list[Row] = [
        xid(79, (number + 0.5) * days / (failures + 1), f"n{number}")
        for number in range(failures)
    ]
    return tables(held, lines)


def against(found: Tables, peer: str) -> Row:
    rows = ask(ANALYSIS, found)[RateComparisons].filter(scope="cluster", peer=peer)
    return rows.row(0, named=True)


def test_incidents_are_held_against_faults_of_nodes() -> None:
    # 40 in 2,000 node-days are 20 per 1000; 584 in 139,200 are 4.195
    row = against(fleet(40), "InfiniteHBD trace")
    wanted = rate_ratio((584, 139_200.0), (40, 2_000.0))
    assert (row["level"], row["category"], row["count"]) == ("incident", "all", 40)
    assert row["rate_ratio"] == pytest.approx(20 / (584 / 139.2))
    assert row["low_rate_ratio"] == pytest.approx(wanted.low)
    assert row["p_value"] == pytest.approx(wanted.p_value)
    assert (row["method"], row["verdict"]) == ("conditional_binomial", "higher")


def test_where_counts_are_not_published_the_value_is_held_against_our_interval() -> (
    None
):
    # nothing stopped in 2,000 node-days, where RSC-1 would stop 13 times
    row = against(fleet(40), "Meta RSC-1, A100")
    assert (row["level"], row["category"]) == ("interruption", "hardware+network")
    assert (row["count"], row["rate_ratio"], row["p_value"]) == (0, 0, None)
    assert row["high_rate_ratio"] == pytest.approx(3.68888 / 2 / 6.5, rel=1e-4)
    assert (row["method"], row["verdict"]) == ("value_in_interval", "lower")


def test_few_events_say_nothing_where_few_are_expected() -> None:
    # 1 in 100 node-days, where InfiniteHBD would have 0.4: neither is five
    row = against(fleet(1, days=1), "InfiniteHBD trace")
    assert row["count"] == 1
    assert row["verdict"] == "not_testable"


def test_without_attempts_nothing_is_compared() -> None:
    found = tables([], [xid(79, 1, "a")])
    row = against(found, "InfiniteHBD trace")
    assert (row["method"], row["verdict"], row["node_time_ns"]) == (
        "none",
        "not_testable",
        None,
    )


def test_every_published_rate_is_compared_for_cluster_and_run() -> None:
    rows = ask(ANALYSIS, fleet(5))[RateComparisons]
    assert sorted(rows["peer"]) == sorted(2 * [one.label for one in PUBLISHED])


def test_larger_runs_are_interrupted_more_often() -> None:
    # 40 in 2,000 node-days: a node fails every 50 days, 1,024 GPUs every 50 / 128
    rows = ask(PROJECTIONS, fleet(40))[RateProjections].filter(level="incident")
    assert rows["gpus"].sort().to_list() == list(SIZES)
    assert (SIZES[0], SIZES[-1]) == (8, 131_072)
    days = dict(rows.select("gpus", pl.col("mtbf_ns").cast(pl.Float64) / DAY_NS).rows())
    assert days[8] == pytest.approx(50)
    assert days[1024] == pytest.approx(50 / 128)
    assert days[131_072] == pytest.approx(50 / 16_384)
    hour = DAY_NS // 24
    peers = dict(rows.drop_nulls("peer_basis").select("gpus", "peer_mtbf_ns").rows())
    assert {gpus: round(float(ns) / hour, 2) for gpus, ns in peers.items()} == {
        8: 1144.8,
        1024: 7.9,
        16_384: 1.8,
        131_072: 0.23,
    }


def test_below_five_there_is_no_mean_but_a_bound() -> None:
    rows = ask(PROJECTIONS, fleet(0))[RateProjections]
    assert rows.filter(level="incident").is_empty()  # logs that were never read
    row = rows.filter(level="interruption", gpus=8).row(0, named=True)
    assert (row["count"], row["mtbf_ns"], row["mtbf_high_ns"]) == (0, None, None)
    assert float(row["mtbf_low_ns"]) == pytest.approx(2000 * DAY_NS / 3.68888, rel=1e-5)
