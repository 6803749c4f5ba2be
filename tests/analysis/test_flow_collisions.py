"""Flows hashed over equal paths: exact against every hash there is, and simulation."""

import math
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis import _flow_collide
from analysis._analysis import Frames
from analysis._flow_collide import collide
from analysis._flow_maximum import distribution, is_exact
from analysis.flow_collisions import ANALYSIS, FlowCollisions
from analysis.plans import Plans
from ingest.tables import RunCards
from tests.analysis.plan_cards import LLAMA, row


@pytest.mark.parametrize(
    ("flows", "paths"),
    [(1, 1), (1, 4), (2, 2), (3, 2), (5, 3), (6, 4), (7, 1), (4, 6), (8, 3)],
)
def test_every_hash_of_a_few_flows(flows: int, paths: int) -> None:
    hashes = list(product(range(paths), repeat=flows))
    fullest = Counter(max(Counter(one).values()) for one in hashes)
    first, below = distribution(flows, paths)
    assert first == min(fullest)
    counted = 0
    for most, chance in enumerate(below, first):
        counted += fullest.get(most, 0)
        assert chance == pytest.approx(counted / len(hashes), abs=1e-12)
    assert counted == len(hashes)


def test_ten_coins() -> None:
    # the more frequent side of 10 throws: 5 + 10 C(10, 5) / 2^11
    found = collide(10, 2, 1)
    assert found.method == "exact"
    assert found.expected_flows == pytest.approx(5 + 10 * math.comb(10, 5) / 2**11)


def test_a_birthday() -> None:
    # 23 people: no two share a day of 365 with a chance of 0.4927
    first, below = distribution(23, 365)
    assert first == 1
    assert below[0] == pytest.approx(0.49270276567601)


@pytest.mark.parametrize(("pairs", "paths", "each"), [(64, 64, 1), (64, 16, 16)])
def test_exact_is_what_simulation_comes_to(pairs: int, paths: int, each: int) -> None:
    found = collide(pairs, paths, each)
    random = np.random.default_rng(7)
    even = np.full(paths, 1 / paths)
    seen = random.multinomial(pairs * each, even, size=20_000).max(axis=1)
    error = float(seen.std()) / math.sqrt(seen.size)
    assert found.expected_flows == pytest.approx(float(seen.mean()), abs=4 * error)
    assert found.p99_flows == pytest.approx(np.quantile(seen, 0.99), abs=1)


def test_more_flows_are_more_even() -> None:
    ratios = [collide(64, 64, each).expected_ratio for each in (1, 4, 16, 64)]
    told = [one for one in ratios if one is not None]
    assert told == sorted(told, reverse=True)
    assert told[0] > 2 * told[2] > 2


def test_a_single_path_has_everything() -> None:
    found = collide(5, 1, 3)
    assert (found.expected_ratio, found.p99_ratio) == (1.0, 1.0)
    assert found.slowdown_ratio == 1.0


def test_paths_that_are_not_full_slow_nothing() -> None:
    # 2 pairs of 16 flows: a path is over its port's rate with more than 16 flows on it
    found = collide(2, 64, 16)
    assert found.expected_ratio is not None
    assert found.slowdown_ratio is not None
    assert found.expected_ratio > 3
    assert found.slowdown_ratio == pytest.approx(1.0, abs=1e-9)


def test_what_is_simulated_says_so_with_its_error() -> None:
    assert not is_exact(10**6, 1000)
    found = collide(10**6, 1000, 1)
    assert found.method == "simulated"
    assert f"seed {_flow_collide.SEED}" in found.said
    assert found.error_ratio is not None
    assert found.expected_ratio is not None
    # mean + sqrt(2 x mean x ln m) and a little less: extremes of a normal law
    bound = 1 + math.sqrt(2 * math.log(1000) / 1000)
    assert 1 + 0.8 * (bound - 1) < found.expected_ratio < bound
    assert found.error_ratio < 1e-3


def test_what_no_computer_throws_has_no_number() -> None:
    found = collide(2**62, 2**62, 16)
    assert found.method == "none"
    assert found.expected_ratio is None
    assert "too many" in found.said


def table(card: str, data_s: float | None = 0.4) -> list[dict[str, Any]]:
    lines = [
        {"run_id": "run", "name": "data_time", "value": data_s, "unit": "s"},
        {"run_id": "run", "name": "hour", "value": 3_600.0 * 16, "unit": "GPU s"},
    ]
    cards = [row(card) | {"file_id": "card"}]
    frames = Frames(
        {
            RunCards: pl.DataFrame(cards, RunCards.create_empty().schema).lazy(),
            Plans: pl.DataFrame(lines, Plans.create_empty().schema).lazy(),
        }
    )
    return ANALYSIS.compute(frames, {})[FlowCollisions].to_dicts()


def test_a_row_for_each_number_of_flows() -> None:
    rows = table(LLAMA + "[fabric]\npairs = 10\npaths = 2\nflows_per_pair = 4")
    assert [one["flows_per_pair"] for one in rows] == [1, 4, 16]
    one = rows[0]
    assert one["method"] == "exact"
    # 10 ports are 5 times too many for 2 even paths, too: that is not counted
    assert one["slowdown_ratio"] == pytest.approx(one["expected_ratio"])
    tail = 0.4 * (one["slowdown_ratio"] - 1)
    assert one["tail_ns"] == round(tail * 1e9)
    assert int(one["tail_gpu_ns"]) == pytest.approx(16 * tail * 1e9, abs=1)


def test_what_a_card_does_not_say_is_the_reason() -> None:
    (one, _) = table(LLAMA)
    assert (
        one["reason"] == "not told: fabric.pairs or fabric.gpus_per_rack, fabric.paths"
    )
    assert one["method"] == "none"
    untimed = table(LLAMA + "[fabric]\npairs = 4\npaths = 4", data_s=None)[0]
    assert untimed["expected_ratio"] is not None
    assert untimed["tail_ns"] is None
    assert "not told" in untimed["reason"]
