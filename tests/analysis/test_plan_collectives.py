"""Collectives of a plan: what a line prints as its formula gives what it prints."""

import re

import pytest

from analysis._plan_rules import Line
from analysis.collective_models import MODELS
from tests.analysis.plan_cards import LLAMA, planned, value

_BYTES, _NVLINK, _NETWORK, _LEVELS = 25e6, 450.0, 50.0, 2

_CARD = (
    LLAMA.replace("tp = 8\npp = 16\ndp = 128", "tp = 1\npp = 1\ndp = {ranks}")
    .replace("gpus = 16384", "gpus = {ranks}")
    .replace("gpus_per_node = 8", "gpus_per_node = {each}")
    .replace("sequence_length = 8192\n", "")
    + "[fabric]\nround_latency_us = 5\ninside_latency_us = 0.6\ntiers = 2\n"
)


def _levels(count: int) -> int:
    return (count - 1).bit_length()


def _by_hand(line: Line, ranks: int, nodes: int) -> float:
    """Work out a formula of collectives as a reader would."""
    names = {
        "N": ranks,
        "n": nodes,
        "p": ranks // nodes,
        "L": _levels,
        "bytes": _BYTES,
        "nvlink_gbs": _NVLINK * 1e9,
        "network_gbs": _NETWORK * 1e9,
        "fabric_levels": _LEVELS,
        "inside_latency": 0.6e-6,
        "round_latency": 5e-6,
        "min": min,
        "max": max,
    }
    text = re.sub(r"\bx\b", "*", line.formula)
    text = re.sub(r"([0-9]) (?=[(nL])", r"\1 * ", text)
    # the text is ours
    return float(eval(text, {"__builtins__": {}}, names))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("ranks", "each", "nodes"),
    [(16, 8, 2), (8, 8, 1), (96, 8, 12), (12, 4, 3), (12, 8, 12), (9, 1, 9), (3, 8, 1)],
)
def test_a_printed_formula_gives_the_printed_value(
    name: str, ranks: int, each: int, nodes: int
) -> None:
    plan = planned(_CARD.replace("{ranks}", str(ranks)).replace("{each}", str(each)))
    for what in ("time", "latency", "rounds", "bandwidth"):
        line = plan[f"{name}_{what}"]
        assert _by_hand(line, ranks, nodes) == pytest.approx(line.value), line.formula


def test_a_crossing_follows_from_latencies_and_bandwidths() -> None:
    plan = planned(_CARD.replace("{ranks}", "64").replace("{each}", "8"))
    found = value(plan, "ring_hierarchical_crossing")
    floors = [value(plan, f"{one}_latency") for one in ("hierarchical", "ring")]
    each = [1 / value(plan, f"{one}_bandwidth") for one in ("ring", "hierarchical")]
    assert found == pytest.approx((floors[0] - floors[1]) / (each[0] - each[1]))


def test_one_rank_sends_nothing() -> None:
    plan = planned(_CARD.replace("{ranks}", "1").replace("{each}", "8"))
    assert value(plan, "tree_time") == 0.0
    assert plan["tree_time"].formula == "0: one rank sends nothing"
    assert plan["tree_bandwidth"].note == "nothing moves"


def test_a_tree_between_two_nodes_sends_less_than_a_ring() -> None:
    plan = planned(_CARD.replace("{ranks}", "16").replace("{each}", "8"))
    # half of the message leaves a node up and half down; of a ring nearly all of it
    assert value(plan, "tree_bandwidth") == pytest.approx(240e9)
    assert value(plan, "ring_bandwidth") == pytest.approx(400e9 / (30 / 16))
