"""Pauses of single ranks in single steps: outliers, and collections of garbage."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ingest.synthetic.cluster._draws import draws
from ingest.synthetic.cluster._work import SECOND_US, Work

Ints = npt.NDArray[np.int64]

#: Spread of the length of a collection, and of a pause of fixed length. [1]
_GC_SPREAD: Final = 0.2
_FIXED_SPREAD: Final = 0.01


@dataclass(frozen=True, slots=True)
class Pauses:
    """Pauses of an attempt, a rank and step once, in the order of steps and ranks.

    Attributes:
        step: Step, counted from the attempt's first.
        rank: Rank that pauses.
        pause: How long. [us]
        noise: What its own work differs by in that step, in spreads.
    """

    step: Ints
    rank: Ints
    pause: Ints
    noise: npt.NDArray[np.float64]

    def where(self, is_wanted: npt.NDArray[np.bool_]) -> "Pauses":
        """Return some of the pauses."""
        return Pauses(
            self.step[is_wanted],
            self.rank[is_wanted],
            self.pause[is_wanted],
            self.noise[is_wanted],
        )

    def part(self, low: int, high: int) -> "Pauses":
        """Return the pauses of a range of steps, counted from there."""
        first, last = np.searchsorted(self.step, (low, high))
        rows = slice(first, last)
        return Pauses(
            self.step[rows] - low, self.rank[rows], self.pause[rows], self.noise[rows]
        )


def pauses_of(work: Work, attempt: int, steps: int) -> Pauses:
    """Draw the pauses of the first steps of an attempt."""
    found = [_outliers(work, attempt, steps), _collections(work, attempt, steps)]
    ranks = work.scenario.ranks
    key = np.concatenate([step * ranks + rank for step, rank, _ in found])
    length = np.concatenate([length for _, _, length in found])
    unique, which = np.unique(key, return_inverse=True)
    total = np.bincount(which, weights=length, minlength=len(unique))
    step, rank = np.divmod(unique, ranks)
    noise = draws(work.scenario.seed, "paused", attempt).standard_normal(len(unique))
    return Pauses(step, rank, total.astype(np.int64), noise)


_Found = tuple[Ints, Ints, npt.NDArray[np.float64]]


def _outliers(work: Work, attempt: int, steps: int) -> _Found:
    """Draw the rare long steps: some of a fixed length, the others exponential."""
    scenario, noise = work.scenario, work.scenario.noise
    draw = draws(scenario.seed, "outliers", attempt)
    # a row of draws for each step, so that more steps change no earlier one
    chance, kind, size, where = draw.random((steps, 4)).T
    hit = np.flatnonzero(chance < noise.outliers)
    usual = scenario.schedule.step_s * SECOND_US
    fixed = noise.fixed_ratio * (1 + _FIXED_SPREAD * (2 * size[hit] - 1))
    free = -noise.outlier_ratio * np.log1p(-size[hit])
    length = usual * np.where(kind[hit] < noise.fixed_share, fixed, free)
    rank = (where[hit] * scenario.ranks).astype(np.int64)
    return hit, rank, np.floor(length)


def _collections(work: Work, attempt: int, steps: int) -> _Found:
    """Draw when each rank collects garbage: in turn, each at a phase of its own."""
    scenario, noise = work.scenario, work.scenario.noise
    every = noise.gc_every
    if not every or noise.gc_synchronised:
        none = np.zeros(0, dtype=np.int64)
        return none, none, np.zeros(0)
    phase = draws(scenario.seed, "phases", attempt).integers(every, size=scenario.ranks)
    order = np.argsort(phase, kind="stable")
    counts = np.bincount(phase, minlength=every)
    begin = np.cumsum(counts) - counts
    turn = np.arange(steps) % every
    each = counts[turn]
    step = np.repeat(np.arange(steps), each)
    within = np.arange(len(step)) - np.repeat(np.cumsum(each) - each, each)
    rank = order[np.repeat(begin[turn], each) + within]
    spread = draws(scenario.seed, "collections", attempt).standard_normal(len(step))
    length = noise.gc_s * SECOND_US * np.exp(_GC_SPREAD * spread)
    return step, rank, np.floor(length)
