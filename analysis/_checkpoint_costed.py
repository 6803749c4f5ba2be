"""What an interval costs a run, and what it saves against the one in use."""

from decimal import Decimal
from typing import Any

from analysis._checkpoint_costs import Row, day_of_gpus, range_of
from analysis._checkpoint_intervals import Costs
from analysis._checkpoint_renewal import exact_ettr, exact_waste, interval_waste
from ingest.times import SECOND_NS


def costed(run: Row, method: str, interval_ns: int) -> dict[str, Any]:
    """Return the columns of CheckpointPlans that an interval alone decides.

    Args:
        run: Row of CheckpointEvidence with a stall and an MTBF.
        method: How the interval was chosen.
        interval_ns: Work between two saves. [ns]
    """
    seconds, costs = interval_ns / SECOND_NS, range_of(run)
    ends = {
        end: None if one is None else interval_waste(seconds, one)
        for end, one in costs.items()
    }
    parts = exact_waste(seconds, costs["mean"])._asdict() if costs["mean"] else {}
    savings = {
        end: None if one is None else saved(run, one, exact_ettr(seconds, one))
        for end, one in costs.items()
    }
    known = [one for one in savings.values() if one is not None]
    return {
        "run_id": run["run_id"],
        "method": method,
        "interval_ns": interval_ns,
        "interval_steps": steps_of(run, interval_ns),
        "waste_ratio": ends["mean"],
        "waste_low_ratio": ends["high"],
        "waste_high_ratio": ends["low"],
        **{f"{name}_ratio": part for name, part in parts.items()},
        "saved_gpu_ns_per_day": savings["mean"],
        "saved_low_gpu_ns_per_day": min(known, default=None),
        "saved_high_gpu_ns_per_day": max(known, default=None),
        "reason": caveats(run),
    }


def saved(run: Row, costs: Costs | None, useful: float) -> Decimal | None:
    """Return the GPU time of a day that is useful instead of wasted. [ns]

    Args:
        run: Row of CheckpointEvidence.
        costs: What the run pays, at one MTBF.
        useful: Share of time that would be useful. [1]

    Returns:
        None where the interval in use, or the number of GPUs, is not known.
    """
    day, used = day_of_gpus(run), run["interval_ns"]
    if day is None or not used or costs is None:
        return None
    more = useful - exact_ettr(used / SECOND_NS, costs)
    return Decimal(round(more * day))


def steps_of(run: Row, interval_ns: int) -> int | None:
    """Return an interval in steps, one at least. [1]"""
    step = run["step_ns"]
    return max(round(interval_ns / step), 1) if step else None


def caveats(run: Row) -> str | None:
    """Return what makes the numbers of a run rough, None where nothing does."""
    said = {
        run["mtbf_words"]: run["mtbf_source"] in {"own_weak", "published"},
        "restart and downtime are not known, and left out": (
            run["restart_basis"] == "none"
        ),
        "the stall is the whole time of a save, at most": run["stall_basis"] == "held",
        "saves of several tiers are taken as one": run["tiers_basis"] == "saves",
    }
    return "; ".join(words for words, holds in said.items() if holds) or None
