"""Least squares of clocks: every end is a moment, an offset and a drift."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from analysis._clock_graph import Flags, Floats, Whole

if TYPE_CHECKING:
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import LinearOperator

#: What conjugate gradients may leave, over the whole. [1]
_TOLERANCE: Final = 1e-13

#: Turns of conjugate gradients. With moments that all of a group see one is enough.
_MOST_TURNS: Final = 200

#: What makes sums of clocks that were seen once invertible, over the others. [1]
_RIDGE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Design:
    """Ends of moments; a model is the offsets of all clocks, then their drifts.

    Attributes:
        instance: Moment of each row, counted from zero.
        clock: Clock of each row, counted from zero.
        group: Group of each row, counted from zero.
        time: Time of each row, of order one.
        clocks: How many clocks there are. [1]
    """

    instance: Whole
    clock: Whole
    group: Whole
    time: Floats
    clocks: int

    def shift(self, model: Floats) -> Floats:
        """Return what a model adds to each end."""
        drift = model[self.clocks + self.clock]
        return np.asarray(model[self.clock] + drift * self.time)

    def centred(self, values: Floats, inside: Flags) -> Floats:
        """Return how far each is from the mean of its moment; zero outside."""
        size = int(self.instance.max(initial=-1)) + 1
        count = np.bincount(self.instance, inside, size)
        total = np.bincount(self.instance, values * inside, size)
        mean = total / np.maximum(count, 1)
        return np.asarray((values - mean[self.instance]) * inside)

    def gradient(self, values: Floats) -> Floats:
        """Return the sum of each clock, and the sum over time."""
        plain = np.bincount(self.clock, values, self.clocks)
        timed = np.bincount(self.clock, values * self.time, self.clocks)
        return np.concatenate([plain, timed])


def solve(design: Design, inside: Flags, fitted: Flags, ends: Floats) -> Floats:
    """Return the model that leaves the least squares of ends within their moments.

    Moments are eliminated: only differences within one count. The sums are never
    written out; conjugate gradients go over the rows, and are led by the sums that
    hold where all moments of a group are on a line of their own.
    Source: Hestenes and Stiefel, J. Res. NBS 49, 1952.

    Args:
        design: The rows.
        inside: Rows that count.
        fitted: Entries of the model that are free; the others are zero.
        ends: What the model is to explain.
    """
    from scipy.sparse.linalg import LinearOperator, cg

    size = int(fitted.sum())
    if not size:
        return np.zeros(len(fitted))

    def whole(free: Floats) -> Floats:
        model = np.zeros(len(fitted))
        model[fitted] = free
        return model

    def normal(free: Floats) -> Floats:
        left = design.centred(design.shift(whole(np.ravel(free))), inside)
        return design.gradient(left)[fitted]

    wanted = design.gradient(design.centred(ends, inside))[fitted]
    sums = LinearOperator((size, size), matvec=normal, dtype=np.float64)
    found, _ = cg(
        sums,
        wanted,
        rtol=_TOLERANCE,
        maxiter=_MOST_TURNS,
        M=_leading(design, inside, fitted),
    )
    return whole(np.asarray(found))


def _leading(design: Design, inside: Flags, fitted: Flags) -> "LinearOperator":
    """Return the inverse of the sums, with one line for all moments of a group."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import LinearOperator, splu

    groups = int(design.group.max(initial=-1)) + 1
    full = _grouped(design, inside, groups)
    free = np.flatnonzero(np.concatenate([fitted, np.ones(2 * groups, dtype=bool)]))
    chosen = full[free][:, free]
    ridge = _RIDGE * max(float(chosen.diagonal().max(initial=0.0)), 1.0)
    diagonal = np.arange(len(free))
    padding = coo_array((np.full(len(free), ridge), (diagonal, diagonal)))
    factors = splu((chosen + padding).tocsc())
    size = int(fitted.sum())

    def lead(wanted: Floats) -> Floats:
        padded = np.concatenate([np.ravel(wanted), np.zeros(2 * groups)])
        return np.asarray(factors.solve(padded)[:size])

    return LinearOperator((size, size), matvec=lead, dtype=np.float64)


def _grouped(design: Design, inside: Flags, groups: int) -> "csc_array":
    """Return the sums of the model and, after it, of a line for each group."""
    from scipy.sparse import coo_array

    clocks = design.clocks
    rows = [design.clock, clocks + design.clock]
    aside = [2 * clocks + design.group, 2 * clocks + groups + design.group]
    weight = inside.astype(np.float64)
    one, two, values = [], [], []
    for left in range(2):
        for right in range(2):
            value = weight * design.time ** (left + right)
            one += [rows[left], aside[left], rows[left], aside[left]]
            two += [rows[right], aside[right], aside[right], rows[right]]
            values += [value, value, -value, -value]
    size = 2 * (clocks + groups)
    places = (np.concatenate(one), np.concatenate(two))
    return coo_array((np.concatenate(values), places), shape=(size, size)).tocsc()
