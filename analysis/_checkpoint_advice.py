"""Whether an interval that would cost least is advice, or is better not followed."""

from collections.abc import Mapping
from typing import Any, Final

from analysis._checkpoint_costs import Row
from analysis._checkpoint_mtbf import UNLIKELY

#: Standard errors of a 95 % interval. [1]
_NORMAL: Final = 1.96

#: Means that were not counted on this run, or hardly.
_ROUGH: Final = ("own_weak", "published")


def advised(
    run: Row, plans: list[dict[str, Any]], replay: Row | None
) -> list[dict[str, Any]]:
    """Return the plans of a run, each with why it is no advice where it is none.

    Args:
        run: Row of CheckpointEvidence.
        plans: Rows of CheckpointPlans of the run.
        replay: Row of CheckpointReplays of the run at its best interval.
    """
    named = {row["method"]: row for row in plans}
    return [row | {"withheld": _withheld(run, row, named, replay)} for row in plans]


def _withheld(
    run: Row, plan: Row, plans: Mapping[str, Row], replay: Row | None
) -> str | None:
    """Return why an interval is no advice, None where it is or where there is none.

    Levels have no ends of their own: those of the exact optimum stand for them.
    """
    if plan["method"] == "in_use" or plan.get("interval_ns") is None:
        return None
    reasons = {
        _REFUTED.format(run["mtbf_words"]): _is_refuted(run),
        "the interval is longer than all steps that the run card plans": (
            _is_beyond(plan, run["planned_ns"])
        ),
        "the interval is longer than the run was seen": (
            run["planned_ns"] is None and _is_beyond(plan, run["seen_ns"])
        ),
        "over the range of the mean time between interruptions it may save or lose": (
            run["mtbf_source"] in _ROUGH
            and _is_unsettled(plans["exact"] if plan["method"] == _LEVELS else plan)
        ),
        "the run's own interruptions, replayed, lose by it": (
            _gains(plan, plans["in_use"]) and replay is not None and _loses(replay)
        ),
    }
    return next((words for words, holds in reasons.items() if holds), None)


_LEVELS: Final = "multi_level"

_REFUTED: Final = "the run's own interruptions refute the rate ({})"


def _is_refuted(run: Row) -> bool:
    chance = run["mtbf_chance_ratio"]
    return chance is not None and chance < UNLIKELY


def _is_beyond(plan: Row, span_ns: int | None) -> bool:
    return span_ns is not None and plan["interval_ns"] > span_ns


def _is_unsettled(plan: Row) -> bool:
    ends = [plan.get(f"saved_{end}_gpu_ns_per_day") for end in ("low", "high")]
    low, high = ends
    return low is not None and high is not None and low < 0 < high


def _gains(plan: Row, used: Row) -> bool:
    """Whether the formula lets expect less waste than the interval in use has."""
    before, after = used.get("waste_ratio"), plan.get("waste_ratio")
    return before is not None and after is not None and before > after


def _loses(replay: Mapping[str, Any]) -> bool:
    """Whether a replay at the interval loses, by more than its error if that is known.

    Fewer than two interruptions have no error: a loss of theirs is one all the same.
    """
    change, error = replay["change_ratio"], replay["change_error_ratio"]
    return change is not None and change < -_NORMAL * (error or 0.0)
