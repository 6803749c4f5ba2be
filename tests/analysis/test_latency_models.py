"""Measured lines beside algorithms on paper: both numbers, and what is ruled out."""

from typing import Any

import pytest

from analysis import Frames
from analysis.collective_models import Layout, Link, Model, hierarchical, ring, tree
from analysis.latency_anatomy import LatencyAnatomy, LatencySizes, measure_latency
from analysis.latency_models import (
    BASE_NS,
    ROUND_BETWEEN_NS,
    ROUND_INSIDE_NS,
    compare_models,
)
from ingest.tables import RunCards
from tests.analysis.transfers import benchmark, frame, frames_of

Row = dict[str, Any]

LAYOUT = Layout(16, 2, Link(ROUND_INSIDE_NS, 450.0), Link(ROUND_BETWEEN_NS, 50.0))

CARD = {"run_id": "run", "nvlink_gbs": 450.0, "network_gbs": 50.0}

SIZES = [8 * 4**step for step in range(15)]


def compared(tests: list[Row], card: Row | None = None) -> dict[str, Row]:
    """The models of one series by their name."""
    fits, sizes = measure_latency(frames_of(tests=tests))
    frames = Frames(
        {
            LatencyAnatomy: fits.lazy(),
            LatencySizes: sizes.lazy(),
            RunCards: frame(RunCards, [card] if card else []),
        }
    )
    found = compare_models(frames).to_dicts()
    return {row["model"]: row for row in found}


def measured(model: Model, **told: Any) -> list[Row]:
    """A benchmark that takes what a model says."""
    times = [(size, round(BASE_NS + model.time_ns(size))) for size in SIZES]
    return benchmark(times, **{"hosts": "a,b", "ranks": 16} | told)


@pytest.mark.parametrize("model", [ring(LAYOUT), hierarchical(LAYOUT)])
def test_what_was_made_by_a_model_is_closest_to_it(model: Model) -> None:
    found = compared(measured(model), CARD)
    assert [name for name, row in found.items() if row["is_closest"]] == [model.name]
    row = found[model.name]
    assert row["misfit_ratio"] == pytest.approx(0, abs=1e-4)
    assert row["model_alpha_ns"] == pytest.approx(row["alpha_ns"], abs=2)
    assert row["model_busbw_gbs"] == pytest.approx(row["busbw_gbs"], rel=1e-4)
    assert row["is_possible"]
    assert row["reason"] is None


def test_the_implied_round_and_link() -> None:
    # GIVEN 162 us and 40 GB/s of 16 ranks on 2 nodes
    times = [(size, 162_000 + size // 40) for size in SIZES]
    found = compared(benchmark(times, hosts="a,b", ranks=16), CARD)
    by_ring, by_tree = found["ring"], found["tree"]
    # 30 rounds and 8; of a ring 15/8 of the bytes leave a node of 8, of a tree all
    assert (by_ring["rounds"], by_ring["round_ns"]) == (30, 5_400)
    assert (by_tree["rounds"], by_tree["round_ns"]) == (8, 20_250)
    assert by_ring["between_gbs"] == pytest.approx(40 * 15 / 8 / 8, rel=1e-6)
    assert by_tree["between_gbs"] == pytest.approx(40 / 8, rel=1e-6)
    assert by_ring["inside_gbs"] == pytest.approx(40 * 15 / 8, rel=1e-6)
    assert (by_ring["inside_told_gbs"], by_ring["between_told_gbs"]) == (450, 50)


def test_a_link_too_slow_rules_a_ring_out() -> None:
    # GIVEN 78 GB/s of busbw over nodes with 50 GB/s for eight GPUs each
    times = [(size, 161_000 + size * 10 // 418) for size in SIZES]
    card = CARD | {"network_gbs": 50 / 8}
    found = compared(benchmark(times, hosts="a,b", ranks=16), card)
    assert not found["ring"]["is_possible"]
    assert found["tree"]["is_possible"]
    assert found["hierarchical"]["is_possible"]


def test_without_nodes_one_kind_of_link_is_taken() -> None:
    found = compared(measured(ring(LAYOUT), hosts=None), CARD)
    assert found["hierarchical"]["reason"] == "the nodes of the ranks are not known"
    row = found["ring"]
    assert row["reason"].startswith("the nodes of the ranks are not known: one kind")
    assert (row["rounds"], row["is_possible"], row["misfit_ratio"]) == (30, None, None)
    assert row["between_gbs"] == pytest.approx(row["busbw_gbs"])


def test_without_a_card_there_is_no_prediction() -> None:
    found = compared(measured(tree(LAYOUT)))
    row = found["tree"]
    assert row["reason"] == (
        "the bandwidth of a link that it uses is not on the run card"
    )
    assert (row["rounds"], row["model_busbw_gbs"]) == (8, None)
    assert row["model_alpha_ns"] == pytest.approx(row["alpha_ns"], abs=2)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"kind": "broadcast"}, "no model of this kind"),
        ({"ranks": None}, "the number of ranks is not known"),
        ({"hosts": "a,b,c"}, "nodes hold unequal shares of the ranks"),
    ],
)
def test_why_nothing_is_compared(told: Row, reason: str) -> None:
    found = compared(measured(ring(LAYOUT), **told), CARD)
    assert {row["reason"] for row in found.values()} == {reason}
    assert {row["rounds"] for row in found.values()} == {None}


def test_series_without_a_line_are_not_compared() -> None:
    assert compared(benchmark([(8, 1000), (16, 1000)]), CARD) == {}
