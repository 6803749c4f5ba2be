"""Offsets and drifts of clocks, from moments that several clocks saw."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from analysis._clock_design import Design, solve
from analysis._clock_errors import drift_errors, errors
from analysis._clock_graph import Flags, Floats, Graph, Whole, connect
from analysis._clock_middles import middles, outside, outside_lines, spread

#: Moments that a drift is told from, at least. [1]
LEAST_DRIFT_COUNT: Final = 10

#: Standard error of a drift that is told: a tenth of what clocks drift by. [1]
MOST_DRIFT_ERROR: Final = 5e-6

#: Looks at what lies outside; each fit shows it better than the one before. [1]
_ROUNDS: Final = 3


@dataclass(frozen=True, slots=True)
class Ends:
    """Moments that clocks saw: each row is one moment on one clock.

    Attributes:
        instance: The moment, counted from zero.
        clock: The clock, counted from zero.
        group: Who meets there: most moments of a group are seen by the same clocks.
        end_ns: The moment as the clock showed it, since a time of reference. [ns]
        clocks: How many clocks there are. [1]
    """

    instance: Whole
    clock: Whole
    group: Whole
    end_ns: Floats
    clocks: int


@dataclass(frozen=True, slots=True)
class Fit:
    """What is known of each clock: one entry a clock.

    Attributes:
        graph: Which clocks are connected, and to which reference.
        offset_ns: Ahead of the reference, at the time of reference. [ns]
        drift: Faster than the reference. [1]
        has_drift: Whether the drift could be told; it is zero where not.
        residual_ns: Robust standard deviation of what is left of its ends. [ns]
        residual_max_ns: Most that is left of one end. [ns]
        count: Moments that it shares with another clock. [1]
        error_ns: Standard error of the offset where it is worst in the window. [ns]
    """

    graph: Graph
    offset_ns: Floats
    drift: Floats
    has_drift: Flags
    residual_ns: Floats
    residual_max_ns: Floats
    count: Whole
    error_ns: Floats


def fit_clocks(ends: Ends) -> Fit:
    """Fit an offset and a drift to each clock, by least squares over what is inside.

    Each end is a moment that nobody knows, plus the offset and the drift of its clock.
    First, ends outside the resistant line of their clock and group are left out; then,
    in turns, all clocks are fitted together, and ends are judged anew by the middle of
    their moment. A drift is kept where its standard error is small. Without noise the
    fit is exact.
    """
    graph = connect(ends.instance, ends.clock, ends.clocks)
    scale = _scale(ends.end_ns)
    time = ends.end_ns / scale
    design = Design(ends.instance, ends.clock, ends.group, time, ends.clocks)
    count = np.bincount(ends.clock, minlength=ends.clocks)
    free = (count >= LEAST_DRIFT_COUNT) & _is_compared(graph)
    away = _from_middles(design, ends.end_ns)
    inside = ~_outside_lines(ends, away)
    model = solve(design, inside, _fitted(graph, free), ends.end_ns)
    for _ in range(_ROUNDS):
        away = _from_middles(design, ends.end_ns - design.shift(model))
        inside = ~outside(ends.clock, away, ends.clocks)
        free &= drift_errors(design, inside, away) <= MOST_DRIFT_ERROR * scale
        model[ends.clocks :] *= free
        left = ends.end_ns - design.shift(model)
        model += solve(design, inside, _fitted(graph, free), left)
    return _told(design, graph, model, free, ends.end_ns)


def _is_compared(graph: Graph) -> Flags:
    return np.asarray(graph.reference != np.arange(len(graph.reference)))


def _fitted(graph: Graph, free: Flags) -> Flags:
    compared = _is_compared(graph)
    return np.concatenate([compared, compared & free])


def _from_middles(design: Design, left: Floats) -> Floats:
    """Return how far each is from the middle of its moment. [ns]"""
    moments = int(design.instance.max(initial=-1)) + 1
    middle = middles(design.instance, left, moments)
    return np.asarray(left - middle[design.instance])


def _outside_lines(ends: Ends, away: Floats) -> Flags:
    pair = ends.group * ends.clocks + ends.clock
    _, place = np.unique(pair, return_inverse=True)
    number = place.astype(np.int64)
    return outside_lines(number, ends.end_ns, away, int(number.max(initial=-1)) + 1)


def _told(
    design: Design, graph: Graph, model: Floats, free: Flags, ends: Floats
) -> Fit:
    """Return the model in its units, and what it leaves."""
    clocks, clock = design.clocks, design.clock
    scale = _scale(ends)
    away = _from_middles(design, ends - design.shift(model))
    inside = ~outside(clock, away, clocks)
    most = np.zeros(clocks)
    np.maximum.at(most, clock, np.abs(away))
    return Fit(
        graph=graph,
        offset_ns=model[:clocks],
        drift=model[clocks:] / scale,
        has_drift=free,
        residual_ns=spread(clock, away, clocks),
        residual_max_ns=most,
        count=np.bincount(clock, minlength=clocks),
        error_ns=errors(design, inside, away, free, scale),
    )


def _scale(ends: Floats) -> float:
    """Return what makes times of order one. [ns]"""
    return max(float(np.abs(ends).max(initial=0.0)), 1.0)
