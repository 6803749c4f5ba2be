"""Published figures of collectives: rounds of algorithms, and a log of nccl-tests."""

from pathlib import Path

import pytest

from analysis.collective_models import Link, flat, ring, slice_bytes, tree

RANKS = 16_384


@pytest.fixture(scope="module")
def figures(shared: Path) -> dict[str, float]:
    """Figures by the number of their row, in the unit that they are told in."""
    lines = (shared / "expected" / "design_figures.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    return {row[0]: float(row[3].split()[0]) for row in rows if row[0] in _FIGURES}


_FIGURES = ("D13", "D14", "D15", "D16")


def test_a_ring_of_all_ranks(figures: dict[str, float]) -> None:
    model = ring(flat(RANKS, Link(5_000.0, 50.0)))
    assert model.rounds == figures["D13"]
    assert model.fixed_ns / 1e9 == pytest.approx(figures["D14"], abs=0.0001)
    assert slice_bytes(25e6, RANKS) == pytest.approx(figures["D15"], abs=0.1)


def test_a_tree_of_all_ranks(figures: dict[str, float]) -> None:
    assert tree(flat(RANKS, Link(5_000.0, 50.0))).rounds == figures["D16"]
