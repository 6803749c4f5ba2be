"""Nodes that fail too often: drawn fleets, drawn rates, and a published trace."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import nbinom

from analysis.gamma_poisson import fleet
from analysis.incidents import ANALYSIS as INCIDENTS
from analysis.interruptions import Interruptions
from analysis.lemon_nodes import ANALYSIS, LemonNodes
from analysis.loss_phases import LossPhases
from ingest.tables import Failures
from ingest.times import DAY_NS
from tests.analysis.failing import Row, Tables, ask, attempt, rows_of, tables, xid
from tests.analysis.fleets_of_nodes import healthy
from tests.published.failure_proofs import BASE_NS, NODES, through

HOSTS = [f"n{number:02}" for number in range(40)]


def fleet_of(lines: list[Row]) -> Tables:
    """Forty nodes for thirty days in one attempt."""
    held = [attempt("r", 0, 0, 30, ",".join(HOSTS), state="COMPLETED")]
    return tables(held, lines)


def lemons(found: Tables) -> pl.DataFrame:
    return ask(ANALYSIS, found)[LemonNodes]


# every second node fails once, and n07 twelve times, a day apart
ONCE = [xid(79, 3 + number / 2, host) for number, host in enumerate(HOSTS[::2])]
LEMON = [xid(79, 5.25 + day, "n07") for day in range(12)]


def test_the_node_that_fails_again_and_again_is_named() -> None:
    rows = lemons(fleet_of([*ONCE, *LEMON]))
    assert rows.height == 21
    (row,) = rows.filter("is_lemon").to_dicts()
    assert (row["host"], row["failures"]) == ("n07", 12)
    assert row["exposure_ns"] == 30 * DAY_NS
    # the other 39 nodes fail 20 times
    assert row["expected"] == pytest.approx(20 / 39)
    assert row["p_value"] < row["threshold_p_value"] == pytest.approx(0.05 / 40)
    assert (row["fleet_nodes"], row["fleet_failures"]) == (40, 32)
    assert row["causes"] == "xid 79 (12)"
    assert row["lost_gpu_ns"] == 0  # it stopped nothing


def test_incidents_count_and_not_their_events() -> None:
    # n07 repeats itself for an hour, every minute: one incident of 60 events
    minute = 1 / 1440
    burst = [xid(79, 5 + number * minute, "n07") for number in range(60)]
    rows = lemons(fleet_of([*ONCE, *burst]))
    assert rows.filter(host="n07")["failures"].to_list() == [1]
    assert not rows["is_lemon"].any()


def test_what_users_do_is_no_fault_of_the_node() -> None:
    own = [xid(43, 5.25 + day, "n07") for day in range(12)]
    rows = lemons(fleet_of([*ONCE, *own]))
    assert rows.filter(host="n07").is_empty()


def test_what_a_node_held_up_is_laid_to_it() -> None:
    # r on a b c d fails at day 10 by 79 on a, and goes on at day 10.5: the phases of
    # the stop cost 30 and 2 GPU-days, what others lost is no part of it
    held = [
        attempt("r", 0, 0, 10, "a,b,c,d"),
        attempt("r", 1, 10.5, 20, "a,b,c,d", state="COMPLETED"),
    ]
    found = tables(held, [xid(79, 10, "a"), xid(79, 4, "b")])
    stop = {"run_id": "r", "attempt": 0, "stop": 0, "planned": False}
    phases = [("start", "restart", 30), ("recompute", "recompute", 2),
              ("second_order", None, 500)]  # fmt: skip
    found[LossPhases] = rows_of(
        LossPhases,
        [
            stop
            | {"phase": phase, "account": account, "gpu_ns": Decimal(days * DAY_NS)}
            for phase, account, days in phases
        ],
    )
    told = {row["host"]: row for row in lemons(found).iter_rows(named=True)}
    assert told["a"]["interruptions"] == 1
    assert told["a"]["lost_gpu_ns"] == 32 * DAY_NS
    assert told["a"]["run_id"] == "r"
    assert told["b"]["lost_gpu_ns"] == 0
    assert told["a"]["p_value"] is None
    assert told["a"]["note"] == "fewer than 5 failures of the whole fleet"


def test_three_nodes_have_no_peers() -> None:
    held = [attempt("r", 0, 0, 30, "a,b,c", state="COMPLETED")]
    rows = lemons(tables(held, [xid(79, 1 + day, "a") for day in range(12)]))
    assert not rows["is_lemon"].any()
    assert rows["note"][0].startswith("fewer than 4 nodes")


def test_without_attempts_nothing_was_observed() -> None:
    assert lemons(tables([], LEMON)).is_empty()


def test_a_node_is_held_against_its_own_time() -> None:
    # equal counts, a tenth of the time: ten times the rate
    counts, days = np.ones(50), np.full(50, 30.0)
    days[0] = 3.0
    found = fleet(counts, days)
    assert found.expected[:2] == pytest.approx([3 * 49 / 1470, 30 * 49 / 1443])
    assert found.p_value[0] < found.p_value[1]


def test_a_large_fleet_is_a_negative_binomial() -> None:
    # 20,000 nodes tell shape and mean so well that only the formula is left
    random = np.random.default_rng(5)
    counts = random.poisson(1.5 * random.gamma(0.8, 1 / 0.8, 20_000)).astype(float)
    counts[0] = 9
    found = fleet(counts, np.ones(20_000))
    wanted = nbinom.sf(8, 0.8, 0.8 / (0.8 + 1.5))
    assert found.p_value[0] == pytest.approx(wanted, rel=0.15)
    assert found.variation == pytest.approx(np.sqrt(1 / 0.8), rel=0.05)


def test_order_does_not_matter() -> None:
    counts, days = healthy(3)
    order = np.random.default_rng(1).permutation(counts.size)
    found, other = fleet(counts, days), fleet(counts[order], days[order])
    assert np.array_equal(found.p_value[order], other.p_value)


@pytest.mark.parametrize("seed", range(10))
def test_a_planted_lemon_is_found(seed: int) -> None:
    counts, days = healthy(seed)
    mean = counts.sum() / days.sum()
    counts[3] = round(20 * max(mean * days[3], 1))
    found = fleet(counts, days)
    assert found.p_value[3] < 0.05 / counts.size
    assert found.p_value.argmin() == 3


def accused(seeds: range) -> int:
    """Count the healthy fleets that accuse a node."""
    count = 0
    for seed in seeds:
        failures, days = healthy(seed)
        if failures.sum() >= 5:
            count += fleet(failures, days).p_value.min() < 0.05 / failures.size
    return count


def test_healthy_fleets_accuse_nobody() -> None:
    assert accused(range(20)) <= 2


@pytest.mark.slow
def test_five_hundred_healthy_fleets_accuse_nobody_in_95_percent() -> None:
    assert accused(range(500)) <= 25


def test_the_trace_of_infinite_hbd_has_no_lemon(shared: Path, project: Path) -> None:
    # 584 faults of 400 nodes in 348 days, held all the time
    folder = shared / "data/failures/stepfun-ai+InfiniteHBD-Trace"
    example = project / "sample_traces/mappings/infinitehbd.toml"
    faults = through(example, folder / "fault_trace.json").drop("place", "seen")
    named = faults["host"].unique().sort().to_list()
    hosts = named + [f"quiet-{number}" for number in range(NODES - len(named))]
    held = attempt("all", 0, 0, 0, ",".join(hosts), cluster="infinitehbd")
    held |= {"start_ns": BASE_NS, "end_ns": BASE_NS + 349 * DAY_NS}
    found = tables([held], [])
    found[Failures] = faults.lazy()
    found |= {t: rows.lazy() for t, rows in ask(INCIDENTS, found).items()}
    found[Interruptions] = rows_of(Interruptions, [])
    rows = lemons(found).sort("p_value")
    top = rows.row(0, named=True)
    # its faults are alike in no two minutes: nearly each is an incident of its own
    assert (top["failures"], rows.filter(pl.col("failures") >= 5).height) == (14, 33)
    # if all nodes were alike, one with 14 faults would be out of the question
    assert top["equal_nodes_p_value"] < 1e-8
    # but its nodes differ by about their mean: among 400 such, one has so many
    assert top["fleet_variation_ratio"] == pytest.approx(1.08, abs=0.05)
    assert 1e-4 < top["p_value"] < 5e-3
    assert not rows["is_lemon"].any()
