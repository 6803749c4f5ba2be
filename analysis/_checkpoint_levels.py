"""Saves of several levels: near and cheap for most failures, far for the rest.

A failure of level k needs a checkpoint of level k or above. Saves are nested: each one
of a level takes the place of one of the level below, so that intervals are integer
multiples, and a failure of level k undoes half an interval of level k on average.

Source: Moody et al., SC 2010. Each level's independent optimum is Young's.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise, product
from math import ceil, floor, inf, sqrt
from operator import mul
from typing import Final, NamedTuple

from ingest.errors import SettingError

#: No interval is shorter: a run that restarts all the time has no best one. [s]
_SHORTEST_S: Final = 1e-3


class Tier(NamedTuple):
    """One level, of which the lowest is named first.

    Attributes:
        mtbf_s: Mean time between failures that need this level, no lower one. [s]
        stall_s: Time that training stands still for a save. [s]
        restart_s: Time to be back at work after such a failure. [s]
        least_s: Shortest interval: the time until a save is safe. [s]
    """

    mtbf_s: float
    stall_s: float
    restart_s: float = 0.0
    least_s: float = 0.0

    @property
    def alone_s(self) -> float:
        """Best interval of the level by itself. [s]"""
        return max(sqrt(2 * self.stall_s * self.mtbf_s), self.least_s)


class Nested(NamedTuple):
    """Intervals of all levels, lowest first.

    Attributes:
        intervals_s: Work between two saves of a level or above. [s]
        multiples: Each interval over the lowest. [1]
        waste_ratio: Share of the time that is not useful, to first order. [1]
    """

    intervals_s: tuple[float, ...]
    multiples: tuple[int, ...]
    waste_ratio: float


def multi_level(tiers: Sequence[Tier]) -> Nested:
    """Return the nested intervals next to each level's own optimum that cost least.

    Each level's own interval is rounded up or down to a multiple of the one below, in
    all combinations; the lowest interval is then the best one of these multiples.

    Args:
        tiers: Levels, lowest first.

    Raises:
        SettingError: There is no level, or the best interval of one is zero or endless:
            it neither stalls nor takes time to be safe, or nothing ever needs it.
    """
    alone = [tier.alone_s for tier in tiers]
    if not alone or not all(0 < one < inf for one in alone):
        message = "a level needs a stall or a shortest interval, and failures"
        raise SettingError(message)
    found = [_nested(tiers, multiples) for multiples in _multiples(alone)]
    return min(found, key=lambda one: one.waste_ratio)


def nested_waste(
    tiers: Sequence[Tier], base_s: float, multiples: Sequence[int]
) -> float:
    """Return 1 - (1 - failing) / (1 + writing), 1 where nothing is left. [1]

    Each level pays the saves that no higher one takes the place of, and half an
    interval of rework and a restart for each of its failures: the closed form of the
    expected useful share (arXiv 2410.21680) with a sum over levels.

    Args:
        tiers: Levels, lowest first.
        base_s: Interval of the lowest. [s]
        multiples: Intervals over the lowest. [1]
    """
    writing = _writing(tiers, multiples) / base_s
    failing = _away(tiers) + base_s * _undone(tiers, multiples)
    return 1 - max(1 - failing, 0.0) / (1 + writing)


def _nested(tiers: Sequence[Tier], multiples: tuple[int, ...]) -> Nested:
    """Return the best lowest interval of these multiples.

    With a seconds of writing and b of failures for each second of the interval, and c
    of the time left after restarts, (c - b x) / (1 + a / x) is greatest at
    sqrt(a^2 + a c / b) - a.
    """
    undone, writing = _undone(tiers, multiples), _writing(tiers, multiples)
    left = max(1 - _away(tiers), 0.0)
    best = sqrt(writing**2 + writing * left / undone) - writing
    pairs = zip(tiers, multiples, strict=True)
    base = max(best, *(tier.least_s / one for tier, one in pairs), _SHORTEST_S)
    intervals = tuple(base * multiple for multiple in multiples)
    return Nested(intervals, multiples, nested_waste(tiers, base, multiples))


def _away(tiers: Sequence[Tier]) -> float:
    """Return the share of time that restarts take. [1]"""
    return sum(tier.restart_s / tier.mtbf_s for tier in tiers)


def _undone(tiers: Sequence[Tier], multiples: Sequence[int]) -> float:
    """Return the share of time that is undone, for each second of the lowest. [1/s]"""
    pairs = zip(tiers, multiples, strict=True)
    return sum(multiple / 2 / tier.mtbf_s for tier, multiple in pairs)


def _writing(tiers: Sequence[Tier], multiples: Sequence[int]) -> float:
    """Return the stalls of one lowest interval, on average. [s]"""
    shares = [1 / multiple for multiple in multiples]
    own = [low - high for low, high in pairwise([*shares, 0.0])]
    return sum(tier.stall_s * one for tier, one in zip(tiers, own, strict=True))


def _multiples(alone: Sequence[float]) -> Iterator[tuple[int, ...]]:
    """Yield every rounding of the intervals to multiples of the ones below."""
    ratios = [high / low for low, high in pairwise(alone)]
    around = [sorted({max(floor(one), 1), ceil(one)}) for one in ratios]
    for steps in product(*around):
        yield tuple(accumulate((1, *steps), mul))
