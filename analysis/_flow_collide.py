"""What hashing flows over equal paths costs: load of the fullest, and the slowest flow.

Every pair of ports sends the same and splits it into equal flows; each flow takes one
path, drawn uniformly by a hash of its addresses, and keeps it. A path carries as much
as one port sends. A collective ends with its slowest flow, the one on the fullest path.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, Final, Literal

from analysis._flow_maximum import distribution, is_exact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Seed of simulated throws, so that a plan is the same every time.
SEED: Final = 20_260_302

#: Throws that are simulated: the mean of a maximum is then known to 2 % of its spread.
DRAWS: Final = 2_000

#: Paths and flows up to which throws are simulated: 2,000 throws in a second or two.
MOST_SIMULATED: Final = 20_000
MOST_FLOWS: Final = 2**53

#: Throws at once.
_AT_ONCE: Final = 100

_P99: Final = 0.99


@dataclass(frozen=True, slots=True)
class Collisions:
    """Flows on equal paths.

    Attributes:
        flows: Flows in all. [1]
        mean_flows: Flows of a path on average. [1]
        method: How the distribution was had; `none` where it is beyond a computer.
        expected_flows: Expected flows of the fullest path. [1]
        p99_flows: Flows that the fullest path does not exceed in 99 of 100 hashes. [1]
        error_flows: Standard error of the expectation; zero where exact. [1]
        slowdown_ratio: Expected time of the slowest flow over that without hashing. [1]
        slowdown_p99_ratio: The same in the worst of 100 hashes. [1]
    """

    flows: int
    mean_flows: float
    method: Literal["exact", "simulated", "none"]
    expected_flows: float | None = None
    p99_flows: float | None = None
    error_flows: float | None = None
    slowdown_ratio: float | None = None
    slowdown_p99_ratio: float | None = None

    @property
    def expected_ratio(self) -> float | None:
        """Expected load of the fullest path over the mean. [1]"""
        return self._over_mean(self.expected_flows)

    @property
    def p99_ratio(self) -> float | None:
        """Load of the fullest path in the worst of 100 hashes over the mean. [1]"""
        return self._over_mean(self.p99_flows)

    @property
    def error_ratio(self) -> float | None:
        """Standard error of `expected_ratio`. [1]"""
        return self._over_mean(self.error_flows)

    @property
    def said(self) -> str:
        """How it is known, in words."""
        if self.method == "simulated":
            error = self.error_ratio or 0.0
            return f"{DRAWS} simulated hashes, standard error {error:.2g}, seed {SEED}"
        known = {"exact": "exact", "none": "too many flows or paths to be worked out"}
        return known[self.method]

    def _over_mean(self, flows: float | None) -> float | None:
        return None if flows is None else flows / self.mean_flows


@lru_cache(maxsize=8)
def collide(pairs: int, paths: int, flows_per_pair: int) -> Collisions:
    """Return how full the fullest of equal paths gets.

    Args:
        pairs: Pairs of ports that send at once. [1]
        paths: Equal paths. [1]
        flows_per_pair: Flows that each pair is split into. [1]
    """
    flows = pairs * flows_per_pair
    if is_exact(flows, paths):
        return _told(_exact(flows, paths), pairs, paths, flows_per_pair)
    if paths <= MOST_SIMULATED and flows <= MOST_FLOWS:
        return _told(_simulated(flows, paths), pairs, paths, flows_per_pair)
    return Collisions(flows, flows / paths, "none")


@dataclass(frozen=True, slots=True)
class _Law:
    """Values of the maximum with P(maximum <= value), of so many draws if simulated."""

    values: "NDArray[np.int64]"
    below: "NDArray[np.float64]"
    draws: int = 0


def _exact(flows: int, paths: int) -> _Law:
    import numpy as np

    first, below = distribution(flows, paths)
    return _Law(first + np.arange(below.size), below)


def _simulated(flows: int, paths: int) -> _Law:
    import numpy as np

    random = np.random.default_rng(SEED)
    even = np.full(paths, 1 / paths)
    found = [
        random.multinomial(flows, even, size=_AT_ONCE).max(axis=1)
        for _ in range(DRAWS // _AT_ONCE)
    ]
    values, counts = np.unique(np.concatenate(found), return_counts=True)
    return _Law(values, counts.cumsum() / DRAWS, DRAWS)


def _told(law: _Law, pairs: int, paths: int, flows_per_pair: int) -> Collisions:
    import numpy as np

    chances = np.diff(law.below, prepend=0.0)
    slowdowns = np.maximum(1.0, law.values / flows_per_pair) / max(1.0, pairs / paths)
    beyond = law.values - law.values[0]
    expected = float(chances @ beyond)
    spread = sqrt(max(float(chances @ (beyond - expected) ** 2), 0.0))
    worst = int(np.searchsorted(law.below, _P99))
    return Collisions(
        flows=pairs * flows_per_pair,
        mean_flows=pairs * flows_per_pair / paths,
        method="simulated" if law.draws else "exact",
        expected_flows=float(law.values[0]) + expected,
        p99_flows=float(law.values[worst]),
        error_flows=spread / sqrt(law.draws) if law.draws else 0.0,
        slowdown_ratio=float(chances @ slowdowns),
        slowdown_p99_ratio=float(slowdowns[worst]),
    )
