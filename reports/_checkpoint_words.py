"""The finding on saves, and how far it carries."""

from typing import Final

from reports._checkpoint_shown import Row, Shown, every, per_day
from reports._numbers import percent
from reports._runs import of_runs
from reports._section import Scope
from reports._words import plural

#: A gain below this share of the time is none: no day shows it. [1]
NEAR_RATIO: Final = 0.001


def heading(shown: list[Shown], scope: Scope) -> str:
    """Return the finding for the run with most to win.

    Args:
        shown: Runs that save, that one first.
        scope: Runs of the page.
    """
    one = shown[0]
    whose, best = of_runs([one.run_id], scope), one.plans.get("exact", {})
    used = one.plans.get("in_use", {})
    if best.get("interval_ns") is None:
        why = best.get("reason") or "nothing tells what a save costs"
        return f"How often to save is not known{whose}: {why}."
    if one.gain_ratio is None:
        return (
            f"A save every {every(best)} would cost least{whose}; the interval in use"
            f" is not known: {used.get('reason')}.{_but(one)}"
        )
    if one.withheld and one.gain_ratio >= NEAR_RATIO:
        return (
            f"How often to save is not settled{whose}: {one.withheld}. At the rate that"
            f" is taken a save every {every(best)} instead of {every(used)} would cost"
            " least."
        )
    if one.gain_ratio < NEAR_RATIO:
        return (
            f"A save every {every(used)} is about the best interval{whose}:"
            f" {every(best)} would win less than {percent(NEAR_RATIO)} of the"
            f" time.{_but(one) or _ground(one.run)}"
        )
    usd = per_day(best["saved_gpu_ns_per_day"], one.run_id, scope)
    return (
        f"A save every {every(best)} instead of {every(used)} would win"
        f" {percent(one.gain_ratio)} of the time{whose}: {usd} a day of"
        f" training.{_ground(one.run)}"
    )


def _ground(run: Row) -> str:
    """Return what the finding rests on where that is weak."""
    if run["mtbf_source"] == "own_weak":
        count = plural(run["interruption_count"], "interruption")
        return f" It rests on {count}, too few to rely on."
    if run["mtbf_source"] == "published":
        return " How often the run is interrupted is assumed."
    return ""


def _but(one: Shown) -> str:
    return f" But {one.withheld}." if one.withheld else ""
