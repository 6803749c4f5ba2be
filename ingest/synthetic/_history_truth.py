"""The truth about a history, from its own clock."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ingest.synthetic._history_causes import TABLE_5, UPGRADE
from ingest.synthetic._history_clock import Leg, Step
from ingest.synthetic._history_scenario import History


def history_truth(history: History, legs: Sequence[Leg]) -> dict[str, Any]:
    """Return what happened, and where the time went. [ns]"""
    seen_ns = sum(leg.end - leg.start for leg in legs)
    first, last = legs[0], legs[-1]
    return {
        "run_id": history.run_id,
        "attempts": len(legs),
        "gpus": history.gpus,
        "reserved_gpus": history.reserved,
        "exposure_ns": seen_ns,
        "node_time_ns": seen_ns * history.nodes,
        "wall_ns": last.end - first.submitted,
        "queue_ns": sum(leg.start - leg.submitted for leg in legs),
        "unexpected_expected": history.unexpected,
        "stops_by_cause": _by_cause(legs),
        "stops_by_component": _by_component(legs),
        "steps_kept": sum(len(leg.kept) for leg in legs),
        "steps_repeated": sum(len(leg.lost) for leg in legs),
        "accounts_ns": _accounts(history, legs),
        "restart_parts_ns": _restart_parts(history, legs),
        "stops": [_stop(one, following) for one, following in pairwise(legs)],
    }


def _by_cause(legs: Sequence[Leg]) -> dict[str, int]:
    counts = Counter(leg.cause.name for leg in legs if leg.cause)
    return {cause.name: counts[cause.name] for cause in (*TABLE_5, UPGRADE)}


def _by_component(legs: Sequence[Leg]) -> dict[str, int]:
    causes = [leg.cause for leg in legs if leg.cause and leg.cause is not UPGRADE]
    return dict(sorted(Counter(cause.component for cause in causes).items()))


def _accounts(history: History, legs: Sequence[Leg]) -> dict[str, int]:
    """Return the GPU time of each account; together they are what was paid for."""
    kept = [step for leg in legs for step in leg.kept]
    stepped = [step for leg in legs for step in leg.steps]
    stall = sum(step.stall for step in kept)
    seen = sum(leg.end - leg.start for leg in legs)
    whole = legs[-1].end - legs[0].start
    between = whole - seen if history.is_reserved else 0
    return {
        "productive": (sum(_length(kept)) - stall) * history.gpus,
        "checkpoint_stall": stall * history.gpus,
        "recompute": sum(sum(_length(leg.lost)) for leg in legs) * history.gpus,
        "restart": (seen - sum(_length(stepped)) + between) * history.gpus,
        "unallocated": whole * (history.reserved - history.gpus),
    }


def _length(steps: Sequence[Step]) -> list[int]:
    return [step.end - step.start for step in steps]


def _restart_parts(history: History, legs: Sequence[Leg]) -> dict[str, int]:
    """Return what the account of restarts is made of.

    An attempt that never completed a step is `start` as a whole. The time after the
    last step of the last attempt is its `end`.
    """
    parts: Counter[str] = Counter()
    for leg in legs:
        begun = "first_start" if leg is legs[0] else "start"
        parts[begun] += (leg.steps[0].start if leg.steps else leg.end) - leg.start
        if leg.steps:
            parts["hang" if leg.cause else "end"] += leg.signed - leg.steps[-1].end
            parts["detect"] += leg.end - leg.signed
    for leg, following in pairwise(legs) if history.is_reserved else ():
        parts["decide"] += following.submitted - leg.end
        parts["requeue"] += following.start - following.submitted
    return {part: length * history.gpus for part, length in sorted(parts.items())}


def _stop(leg: Leg, following: Leg) -> dict[str, Any]:
    """Return one stop, and when what happened. [ns]"""
    return {
        "attempt": leg.number,
        "cause": leg.cause.name if leg.cause else None,
        "component": leg.cause.component if leg.cause else None,
        "planned": leg.cause is UPGRADE,
        "host": leg.host,
        "last_step_end_ns": leg.steps[-1].end if leg.steps else None,
        "detected_ns": leg.signed,
        "decided_ns": leg.end,
        "requeued_ns": following.submitted,
        "started_ns": following.start,
        "first_step_ns": following.steps[0].start if following.steps else None,
        "lost_steps": len(leg.lost),
    }
