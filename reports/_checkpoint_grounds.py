"""What numbers on saves rest on: the stall, the spacing of interruptions, restarts."""

from decimal import Decimal
from typing import Final

from reports._checkpoint_shown import Row, Shown, per_day
from reports._numbers import duration, percent
from reports._runs import NS_PER_DAY
from reports._section import Scope
from reports._words import listed, plural

#: Where a stall is from, in words.
_STALLS: Final = {
    "saves": "told by the saves",
    "steps": "of steps that stood still for one",
    "card": "by the run card",
    "held": "at most: the whole time of a save, as nothing tells what of it stalled",
}


def paragraphs(one: Shown, scope: Scope) -> list[str]:
    """Return what the numbers of a run rest on.

    Args:
        one: The run with most to win.
        scope: Runs of the page.
    """
    of_best = [] if one.withheld else [_wrong(one, scope), _range(one, scope)]
    spacing = " ".join(filter(None, [_spacing(one.run), *of_best]))
    said = (_stalls(one), spacing, _away(one.run), _failed(one.run))
    return [text for text in said if text]


def _stalls(one: Shown) -> str:
    run, used = one.run, one.plans.get("in_use", {})
    if run["stall_ns"] is None:
        return ""
    stall = f"A save stalls training for {duration(run['stall_ns'])}"
    basis = f" (median of the slowest rank, {_STALLS[run['stall_basis']]})"
    share = used.get("write_ratio")
    part = f", {percent(share)} of the time" if share is not None else ""
    return f"{stall}{basis}{part}. {_flush(run)}"


def _flush(run: Row) -> str:
    if run["flush_ns"] is None:
        return "When a save is safe is not told: it counts as safe after the stall."
    return (
        f"It is safe after {duration(run['flush_ns'])}: the stall is the cost, the"
        " flush is the shortest interval there can be and what a failure undoes"
        " besides."
    )


def _spacing(run: Row) -> str:
    if run["mtbf_ns"] is None:
        return ""
    high = run["mtbf_high_ns"]
    ends = (
        f" ({duration(run['mtbf_low_ns'])} to"
        f" {duration(high) if high is not None else 'unbounded'})"
        if run["mtbf_low_ns"] is not None
        else ""
    )
    return (
        f"Mean time between interruptions: {duration(run['mtbf_ns'])}{ends};"
        f" {run['mtbf_words']}.{_beside(run)}"
    )


def _beside(run: Row) -> str:
    """Return how many the run itself had, where they were too few to count on."""
    count, chance = run["interruption_count"], run["mtbf_chance_ratio"]
    if chance is None:
        return ""
    had = plural(count, "interruption")
    return f" The run itself had {had}; the chance of that is {percent(chance)}."


def _wrong(one: Shown, scope: Scope) -> str:
    """Return what planning with a wrong MTBF would cost."""
    best = one.plans.get("exact", {})
    half, double = best.get("half_mtbf_ratio"), best.get("double_mtbf_ratio")
    if half is None or double is None:
        return ""
    costs = [f"{percent(ratio)}{_worth(one, ratio, scope)}" for ratio in (half, double)]
    return (
        f"A plan made with half of that would waste {costs[0]} of the time more, one"
        f" made with twice of that {costs[1]}."
    )


def _worth(one: Shown, ratio: float, scope: Scope) -> str:
    """Return what a share of a day's GPU time is worth, empty for unknown GPUs."""
    gpus = one.run["gpu_count"]
    if not gpus:
        return ""
    lost = Decimal(round(ratio * gpus * NS_PER_DAY))
    return f" ({per_day(lost, one.run_id, scope)} a day)"


def _range(one: Shown, scope: Scope) -> str:
    """Return how the saving changes over the range of the MTBF."""
    best = one.plans.get("exact", {})
    low = best.get("saved_low_gpu_ns_per_day")
    high = best.get("saved_high_gpu_ns_per_day")
    if low is None or high is None or low == high:
        return ""
    ends = [per_day(end, one.run_id, scope) for end in (low, high)]
    unsettled = ": whether it saves is not settled" if low < 0 < high else ""
    return (
        f"Over the range of that time the best interval saves {ends[0]} to {ends[1]}"
        f" a day{unsettled}."
    )


def _away(run: Row) -> str:
    parts = [
        f"{duration(run[f'{name}_ns'])} {words}{_median(run, name)}"
        for name, words in (
            ("downtime", "from the last step to the next start"),
            ("restart", "from there to the first new step"),
        )
        if run[f"{name}_ns"] is not None
    ]
    if not parts:
        return "Downtime and restart are not known, and left out of the waste."
    return f"An interruption takes {listed(parts)}; neither moves the best interval."


def _median(run: Row, name: str) -> str:
    mean, median = run[f"{name}_ns"], run[f"{name}_median_ns"]
    if median is None or mean == median:
        return ""
    return f" (mean; median {duration(median)})"


def _failed(run: Row) -> str:
    said = []
    if run["failed_save_count"]:
        saves = plural(run["failed_save_count"], "save")
        said.append(f"{saves} of {run['save_count']} never ended or was never safe")
    if run["elsewhere_save_count"]:
        saves = plural(run["elsewhere_save_count"], "save")
        said.append(f"{saves} of times or steps far from this run's left out")
    if run["older_resume_count"]:
        count = plural(run["older_resume_count"], "restart")
        said.append(f"{count} did not come back to the newest save")
    return f"{listed(said)[0].upper()}{listed(said)[1:]}." if said else ""
