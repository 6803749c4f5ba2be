"""The waste of a run over every interval that it could choose."""

from collections.abc import Iterator
from math import exp, log
from typing import Any, Final

from analysis._checkpoint_costs import Row, floor_ns, range_of, why_not
from analysis._checkpoint_intervals import Costs, exact_interval
from analysis._checkpoint_renewal import exact_waste, interval_waste
from ingest.times import SECOND_NS

#: Points of a curve: a smooth line at any width of a page.
POINTS: Final = 61

#: How far a curve reaches below and above the best interval: the stall and the rework
#: that one would not choose are both seen. [1]
REACH: Final = 12.0


def curve_of(run: Row) -> Iterator[dict[str, Any]]:
    """Yield the points of a run's curve, at equal ratios; none where it has no curve.

    It reaches from a REACH below the best interval to a REACH above, to the interval
    in use where that is farther, and not below what can be done.

    Args:
        run: Row of CheckpointEvidence.
    """
    if why_not(run):
        return
    costs = range_of(run)
    mean = costs["mean"]
    if mean is None:
        return
    for interval in _intervals(run, mean):
        seconds = interval / SECOND_NS
        waste = exact_waste(seconds, mean)
        yield {
            "run_id": run["run_id"],
            "interval_ns": interval,
            "write_ratio": waste.write,
            "rework_ratio": waste.rework,
            "restart_ratio": waste.restart,
            "waste_ratio": waste.total,
            "waste_low_ratio": _at(seconds, costs["high"]),
            "waste_high_ratio": _at(seconds, costs["low"]),
        }


def _at(interval_s: float, costs: Costs | None) -> float | None:
    return None if costs is None else interval_waste(interval_s, costs)


def _intervals(run: Row, costs: Costs) -> list[int]:
    """Return the intervals of a curve, each once. [ns]"""
    least = max(floor_ns(run)[0], 1)
    best = max(exact_interval(costs) * SECOND_NS, least)
    used = run["interval_ns"] or best
    low = max(min(best / REACH, used / 2), least)
    high = max(best * REACH, used * 2)
    step = log(high / low) / (POINTS - 1)
    spaced = (low * exp(step * place) for place in range(POINTS))
    return sorted({round(one) for one in spaced})
