"""What a way of writing costs a run at the interval that is best for it."""

from decimal import Decimal
from typing import Any

from analysis._checkpoint_costed import saved
from analysis._checkpoint_costs import Row, costs_of, floor_ns
from analysis._checkpoint_intervals import exact_interval
from analysis._checkpoint_renewal import exact_ettr
from ingest.times import SECOND_NS


def costed(run: Row, burst_ns: int, stall_ns: int, flush_ns: int) -> dict[str, Any]:
    """Return best interval, waste and saving of a way of writing.

    Args:
        run: Row of CheckpointEvidence.
        burst_ns: Time that the store writes. [ns]
        stall_ns: Time that training stands still. [ns]
        flush_ns: Time until the save is safe. [ns]
    """
    if not run["mtbf_ns"]:
        return {"reason": f"no best interval: {run['mtbf_words']}"}
    changed = {**run, "stall_ns": stall_ns, "flush_ns": flush_ns}
    costs = costs_of(changed, run["mtbf_ns"])
    best = round(exact_interval(costs) * SECOND_NS)
    interval = max(best, floor_ns(changed)[0], 1)
    useful = exact_ettr(interval / SECOND_NS, costs)
    return {
        "interval_ns": interval,
        "waste_ratio": max(1 - useful, 0.0),
        "busy_ratio": burst_ns / (interval + stall_ns),
        "saved_gpu_ns_per_day": _saved(run, useful),
    }


def _saved(run: Row, useful: float) -> Decimal | None:
    """Return the saving against what is in use, None where that is not known. [ns]"""
    if run["stall_ns"] is None:
        return None
    return saved(run, costs_of(run, run["mtbf_ns"]), useful)
