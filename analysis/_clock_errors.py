"""How far offsets and drifts of clocks may be off by chance."""

from typing import Final

import numpy as np

from analysis._clock_design import Design
from analysis._clock_graph import Flags, Floats
from analysis._clock_middles import spread

#: Drift of a clock of which nothing tells it, as a standard deviation: crystals are
#: made to within 50 parts in a million. [1]
USUAL_DRIFT: Final = 2e-5


def _squares(design: Design, inside: Flags) -> tuple[Floats, Floats]:
    """Return the squares of times about the mean of each clock, and the furthest."""
    clocks = design.clocks
    count = np.maximum(np.bincount(design.clock, inside, clocks), 1)
    mean = np.bincount(design.clock, design.time * inside, clocks) / count
    off = (design.time - mean[design.clock]) * inside
    furthest = np.zeros(clocks)
    np.maximum.at(furthest, design.clock, np.abs(off))
    squares = np.bincount(design.clock, off * off, clocks)
    return np.asarray(squares, dtype=np.float64), furthest


def drift_errors(design: Design, inside: Flags, away: Floats) -> Floats:
    """Return the standard error of each drift, over the scale of times. [ns]"""
    sd = spread(design.clock, away, design.clocks)
    squares, _ = _squares(design, inside)
    known = squares > 0
    return np.where(known, sd / np.sqrt(np.where(known, squares, 1.0)), np.inf)


def errors(
    design: Design, inside: Flags, away: Floats, free: Flags, scale: float
) -> Floats:
    """Return the standard error of each offset, where it is worst in the window."""
    sd = spread(design.clock, away, design.clocks)
    count = np.maximum(np.bincount(design.clock, inside, design.clocks), 1)
    drift = drift_errors(design, inside, away)
    unknown = np.full(design.clocks, USUAL_DRIFT * scale)
    chosen = np.where(free & np.isfinite(drift), drift, unknown)
    reach = chosen * _squares(design, inside)[1]
    return np.hypot(sd / np.sqrt(count), reach)
