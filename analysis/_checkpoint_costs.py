"""What a run pays for its safety, as formulas take it, at each end of its MTBF."""

from collections.abc import Mapping
from typing import Any

from analysis._checkpoint_intervals import Costs
from ingest.times import DAY_NS, SECOND_NS

Row = Mapping[str, Any]


def costs_of(run: Row, mtbf_ns: int, stall_ns: int | None = None) -> Costs:
    """Return the costs of a run; what is not known of its restarts is left out.

    The lag is the time from the end of the stall until the save is safe.

    Args:
        run: Row of CheckpointEvidence with a stall, or any with a stall given.
        mtbf_ns: Mean time between interruptions. [ns]
        stall_ns: Another stall than the run's. [ns]
    """
    stall = run["stall_ns"] if stall_ns is None else stall_ns
    return Costs(
        mtbf_s=mtbf_ns / SECOND_NS,
        stall_s=stall / SECOND_NS,
        restart_s=(run["restart_ns"] or 0) / SECOND_NS,
        downtime_s=(run["downtime_ns"] or 0) / SECOND_NS,
        lag_s=max((run["flush_ns"] or 0) - stall, 0) / SECOND_NS,
    )


def range_of(run: Row) -> dict[str, Costs | None]:
    """Return the costs at the mean and at both ends of the MTBF, None where unbounded.

    Args:
        run: Row of CheckpointEvidence with a stall and an MTBF.
    """
    ends = {"mean": "mtbf_ns", "low": "mtbf_low_ns", "high": "mtbf_high_ns"}
    return {
        end: costs_of(run, run[name]) if run[name] else None
        for end, name in ends.items()
    }


def why_not(run: Row) -> str:
    """Return why a run has no best interval, empty where it has one."""
    if run["stall_ns"] is None:
        return "no source tells how long a save takes"
    if not run["mtbf_ns"]:
        return f"how often it is interrupted is not known: {run['mtbf_words']}"
    return ""


def day_of_gpus(run: Row) -> int | None:
    """Return the GPU time that a run pays for in a day; None for unknown GPUs. [ns]"""
    gpus = run["gpu_count"]
    return int(gpus) * DAY_NS if gpus else None


def floor_ns(run: Row) -> tuple[int, str]:
    """Return the shortest interval that can be, and what sets it. [ns]

    A save is begun after the last is safe: the period lasts as long as a flush, the
    interval is what the stall leaves of it. More than one in a step makes no sense.
    """
    flush = max((run["flush_ns"] or 0) - run["stall_ns"], 0)
    step = run["step_ns"] or 0
    return (flush, "flush") if flush >= step else (step, "step")
