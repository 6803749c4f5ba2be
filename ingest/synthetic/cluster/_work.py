"""What own work takes on a healthy fleet: each rank's, and the longest of many."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from ingest.synthetic.cluster._draws import draws
from ingest.synthetic.cluster.scenario import Layout, Scenario

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Microseconds in a second.
SECOND_US: Final = 1_000_000

#: Places at which the distribution of the longest work is computed, and classes of
#: ranks that are taken for alike in it.
_PLACES: Final = 600
_CLASSES: Final = 256

#: How far around its mean that distribution is computed, in spreads.
_SPREADS: Final = 9.0

#: A spread that no microsecond shows.
_NONE: Final = 1e-9

_AXES: Final = ("tp", "cp", "pp", "dp")


def seats(layout: Layout, axis: str) -> Ints:
    """Return the position of each rank along an axis of the layout."""
    before = 1
    for one in layout.order:
        size: int = getattr(layout, one)
        if one == axis:
            return np.arange(layout.ranks) // before % size
        before *= size
    raise ValueError(axis)


@dataclass(frozen=True)
class Work:
    """Own work of the ranks of a scenario.

    Attributes:
        scenario: The scenario.
        watched: Ranks that something happens to at some time, in order. Their draws are
            their own, so that they can be made without those of all others.
    """

    scenario: Scenario
    watched: tuple[int, ...]

    @cached_property
    def relative(self) -> Floats:
        """Work of each rank over that of a usual one of an early stage. [1]"""
        scenario = self.scenario
        lasting = draws(scenario.seed, "persistent").standard_normal(scenario.ranks)
        layout, ratio = scenario.layout, scenario.model.last_stage_ratio
        is_last = seats(layout, "pp") == layout.pp - 1
        stage = np.where(is_last & (layout.pp > 1), ratio, 1.0)
        found: Floats = stage * (1 + scenario.noise.persistent_sd * lasting.clip(-4, 4))
        return found

    @cached_property
    def base_us(self) -> Floats:
        """Usual work of each rank: that of a step of the usual length. [us]"""
        schedule = self.scenario.schedule
        shares = schedule.communication_share + schedule.idle_share
        longest = schedule.step_s * (1 - shares) - schedule.data_s
        middle = _quantiles(self.relative, self.spread).at(np.array([np.log(2.0)]))
        found: Floats = self.relative * (longest * SECOND_US / middle[0])
        return found

    @property
    def spread(self) -> float:
        """Spread of the work of a rank from step to step. [1]"""
        return max(self.scenario.noise.rank_cv, _NONE)

    @cached_property
    def replica(self) -> Ints:
        """Data-parallel replica of each rank."""
        return seats(self.scenario.layout, "dp")

    @cached_property
    def is_watched(self) -> npt.NDArray[np.bool_]:
        """Whether each rank is watched."""
        found = np.zeros(self.scenario.ranks, dtype=bool)
        found[list(self.watched)] = True
        return found

    @cached_property
    def longest(self) -> "_Quantiles":
        """Longest work of all ranks, of one replica. [us]

        Where replicas differ by the lengths of their documents, each is taken for a
        fair sample of all ranks.
        """
        parts = self.scenario.layout.dp if self.scenario.noise.sequence_sd else 1
        return _quantiles(self.base_us, self.spread, parts)


@dataclass(frozen=True, slots=True)
class _Quantiles:
    """The distribution of the longest of many works.

    Attributes:
        values: Works, growing.
        exponents: Minus the logarithm of the probability that the longest is no longer
            than each, falling. [1]
    """

    values: Floats
    exponents: Floats

    def at(self, exponential: Floats) -> Floats:
        """Return the longest works for draws from the exponential distribution."""
        logs = np.log(np.maximum(self.exponents[::-1], 1e-300))
        return np.interp(np.log(exponential), logs, self.values[::-1])


def _quantiles(base: Floats, spread: float, parts: int = 1) -> _Quantiles:
    """Find how long the longest of normal works is."""
    from scipy.special import log_ndtr

    ordered = np.sort(base)
    classes = [part for part in np.array_split(ordered, _CLASSES) if len(part)]
    means = np.array([part.mean() for part in classes])
    counts = np.array([len(part) for part in classes], dtype=np.float64)
    low = means[-1] * (1 - _SPREADS * spread)
    high = means[-1] * (1 + _SPREADS * spread)
    values = np.linspace(low, high, _PLACES)
    z = (values[:, None] / means - 1) / spread
    exponents = -(log_ndtr(z) * counts).sum(1) / parts
    return _Quantiles(values, exponents)


def moving(fresh: Floats, autocorrelation: float) -> Floats:
    """Return draws of which each resembles the one before, of unit spread.

    A moving average of two has the autocorrelation t / (1 + t^2) at lag one, and none
    beyond: what a step is like depends on its own draw and the one before alone.

    Args:
        fresh: Independent draws, one row more than is wanted.
        autocorrelation: Of neighbouring rows, below a half. [1]
    """
    first, second = mixture(autocorrelation)
    return first * fresh[1:] + second * fresh[:-1]


def mixture(autocorrelation: float) -> tuple[float, float]:
    """Return the weights of a draw and of the one before it."""
    rho = autocorrelation
    theta = (1 - np.sqrt(1 - 4 * rho * rho)) / (2 * rho) if rho else 0.0
    scale = float(1 / np.sqrt(1 + theta * theta))
    return scale, float(theta) * scale
