"""Histories whose failures fall on any node: chance alone, which accuses nobody."""

from collections import Counter

import numpy as np
import pytest

from analysis.gamma_poisson import fleet
from analysis.lemon_nodes import LEMON_P
from ingest.synthetic.history import History, run_history

pytestmark = pytest.mark.thorough

NODES = 64

#: Steps play no part here: none fits into an attempt.
NO_STEPS = 10.0**7


def failures(seed: int, nodes: int = NODES) -> list[int]:
    """Failures of each node of a history, of which 2.6 are expected."""
    legs = run_history(
        History(seed=seed, nodes=nodes, unexpected=3.4 * nodes, step_s=NO_STEPS)
    )
    counts = Counter(leg.host for leg in legs if leg.host)
    return [*counts.values(), *([0] * (nodes - len(counts)))]


def names_any(seed: int) -> bool:
    """Whether a lemon is found among nodes that are all alike."""
    counts = np.array(failures(seed), dtype=np.float64)
    found = fleet(counts, np.full(NODES, 54.0))
    return bool((found.p_value < LEMON_P / NODES).any())


def test_failures_of_nodes_spread_as_poisson_counts_do() -> None:
    counts = np.array(failures(7, nodes=512))
    # variance over mean is 1 +- 0.06 by chance; a deck that is dealt out has 0.1
    assert counts.var() / counts.mean() == pytest.approx(1, abs=0.2)
    assert counts.min() == 0
    assert counts.max() >= 7


def test_a_seed_always_hits_the_same_nodes() -> None:
    assert failures(3) == failures(3)
    assert failures(3) != failures(4)


def test_healthy_fleets_name_nobody() -> None:
    assert not any(names_any(seed) for seed in range(3))


@pytest.mark.slow
def test_one_healthy_fleet_in_twenty_names_a_node_at_most() -> None:
    named = sum(names_any(seed) for seed in range(200))
    assert named <= 200 * LEMON_P
