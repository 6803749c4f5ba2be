"""Fleets of nodes that fail at rates of their own, drawn from a seed."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Nodes, mean failures of a node, and the shape of the gamma of their rates; without a
#: shape all nodes are alike.
FLEETS = [
    (16, 2.0, None),
    (16, 1.0, 1.0),
    (64, 0.5, None),
    (64, 0.5, 0.5),
    (64, 2.0, 1.0),
    (128, 1.5, 0.7),
    (400, 1.46, 0.85),
    (400, 0.2, None),
    (400, 0.5, 3.0),
    (1024, 0.1, 1.0),
]


def healthy(seed: int) -> tuple["NDArray[np.float64]", "NDArray[np.float64]"]:
    """Failures and days of the nodes of one fleet of FLEETS, none of them a lemon."""
    random = np.random.default_rng(seed)
    nodes, mean, shape = FLEETS[seed % len(FLEETS)]
    days = random.uniform(10, 54, nodes)
    rates = np.ones(nodes) if shape is None else random.gamma(shape, 1 / shape, nodes)
    counts = random.poisson(mean * rates * days / days.mean())
    return counts.astype(np.float64), days
