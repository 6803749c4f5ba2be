"""Words for what goes wrong with a feed of data."""

from decimal import Decimal
from typing import Final

import polars as pl

from analysis.data_feed import ATTENTION_SHARE
from reports._numbers import duration, grouped, percent, significant
from reports._section import Scope
from reports._words import listed, name, plural
from reports.dollars import dollars, in_words

#: What GPU time went on that a fault took.
_SPENT: Final = {
    "given_twice": "samples that had been learned from",
    "restart_repeats": "samples that had been learned from",
    "ranks_disagree": "gradients of ranks at odds",
}

#: Correlation from which work is said to go with squared lengths: a tenth of its
#: variance. [1]
_GOES_FROM: Final = 0.3

#: Kinds of fault in words.
KINDS: Final = {
    "given_twice": "given twice",
    "left_out": "left out",
    "ranks_disagree": "ranks disagree",
    "restart_repeats": "restart repeats",
    "restart_skips": "restart skips",
}

#: The same counted: one, and several.
_COUNTED: Final = {
    "given_twice": ("step with samples given twice", "steps with samples given twice"),
    "left_out": ("step with samples left out", "steps with samples left out"),
    "ranks_disagree": ("step whose ranks disagree", "steps whose ranks disagree"),
    "restart_repeats": ("step that a restart repeats", "steps that a restart repeats"),
    "restart_skips": ("restart that skips samples", "restarts that skip samples"),
}


def heading(feeds: pl.DataFrame, faults: pl.DataFrame, whose: str) -> str:
    """Return the finding with its number.

    Args:
        feeds: Rows of DataFeed with reads.
        faults: Rows of DataFeedViolations.
        whose: Runs that it is of, as " of a"; empty on a page about one run.
    """
    steps = plural(int(feeds["steps_count"].sum()), "step")
    if faults.height == 1:
        told = _once(faults.row(0, named=True))
        return f"The data feed{whose} went wrong once in {steps}: {told}."
    if faults.height:
        return (
            f"The data feed{whose} went wrong in {steps}: {listed(_counts(faults), 5)}."
        )
    if (feeds["verdict"] == "complete").all():
        return (
            f"Every sample{whose} was given once over {steps}{_number(feeds)}: none"
            " twice, none left out."
        )
    return (
        f"No sample{whose} was found given twice or left out over {steps}; not all of"
        " it can be told."
    )


def _once(fault: dict[str, object]) -> str:
    """Return a fault in words, its ranks or samples counted."""
    found = fault["samples_count"]
    many = plural(found, "sample") if isinstance(found, int) else "a batch"
    ranks = name(str(fault["ranks"]), 40) if fault["ranks"] else "not known"
    said = {
        "given_twice": f"{many} came twice",
        "left_out": f"{many} missing",
        "ranks_disagree": f"ranks {ranks} had another batch than their replica",
        "restart_repeats": f"the restart gave {many} again",
        "restart_skips": f"the restart skipped {many}",
    }
    step = grouped(int(str(fault["step"])))
    return f"{said[str(fault['kind'])]} in step {step}"


def _counts(faults: pl.DataFrame) -> list[str]:
    counted = (
        faults["kind"].value_counts().sort(["count", "kind"], descending=[True, False])
    )
    return [plural(count, *_COUNTED[kind]) for kind, count in counted.iter_rows()]


def _number(feeds: pl.DataFrame) -> str:
    if feeds["samples"].null_count():
        return ""
    return f" and {plural(int(feeds['samples'].sum()), 'sample')}"


def cost(rows: pl.DataFrame, column: str, scope: Scope) -> str:
    """Return what GPU time of several runs costs, in words; empty where none is known.

    Args:
        rows: Columns run_id and the GPU time. [ns]
        column: Name of the GPU time.
        scope: Prices of the runs.
    """
    known = rows.drop_nulls(column).select("run_id", column)
    amounts = [
        dollars(int(ns), scope.price(run_id)) for run_id, ns in known.iter_rows()
    ]
    return in_words(sum(amounts, Decimal())) if amounts else ""


def paragraphs(feeds: pl.DataFrame, faults: pl.DataFrame, scope: Scope) -> list[str]:
    """Return what faults cost, what stalls and uneven documents do, and the limits."""
    told = [
        _lost(faults, scope),
        _stalls(feeds, scope),
        _imbalance(feeds),
        *_limits(feeds),
    ]
    return [text for text in told if text]


def _lost(faults: pl.DataFrame, scope: Scope) -> str:
    if faults.is_empty():
        return ""
    kinds = set(faults["kind"])
    spent = [words for kind, words in _SPENT.items() if kind in kinds]
    missed = kinds & {"left_out", "restart_skips"}
    free = "Samples that are left out cost no GPU time." if missed else ""
    amount = cost(faults, "gpu_ns", scope)
    if not spent:
        return free
    told = amount or "not known, as no step log tells what the steps took"
    return f"GPU time on {' or '.join(dict.fromkeys(spent))}: {told}. {free}".strip()


def _stalls(feeds: pl.DataFrame, scope: Scope) -> str:
    known = feeds.drop_nulls("stalled_count")
    if known.is_empty():
        return "No step log tells how long steps were blocked on input (data_ns)."
    stalled = int(known["stalled_count"].sum())
    booked = known["data_stall_gpu_ns"].cast(pl.Int128).sum()
    all_of_it = (
        f" The account data stall holds {duration(float(booked))} of GPU time,"
        f" {cost(known, 'data_stall_gpu_ns', scope)}, with the little that every step"
        " takes."
        if booked
        else ""
    )
    if not stalled:
        none = (
            "No rank was blocked on its input for long: prefetching hid what it took."
        )
        return f"{none}{all_of_it}"
    lost = float(known["stalled_gpu_ns"].cast(pl.Int128).sum())
    return (
        f"{plural(stalled, 'step')} waited for input that prefetching did not hide:"
        f" {duration(lost)} of GPU time, {cost(known, 'stalled_gpu_ns', scope)}."
        f"{all_of_it}"
    )


def _imbalance(feeds: pl.DataFrame) -> str:
    known = feeds.drop_nulls("imbalance_ratio")
    if known.is_empty():
        return ""
    worst = known.sort("imbalance_ratio", "run_id").row(-1, named=True)
    ratio, longer = worst["imbalance_ratio"], worst["imbalance_time_ratio"]
    longest = (
        f" The longest document has {grouped(worst['longest_document'])} tokens."
        if worst["longest_document"]
        else ""
    )
    return (
        "Long documents: the heaviest replica of a step has on average"
        f" {significant(ratio)} times the mean sum of squared lengths. That makes steps"
        f" {percent(longer)} longer if attention has the share of compute that is"
        f" assumed, {percent(ATTENTION_SHARE)} by default; it is expected, not"
        f" measured.{_measured(worst)}{longest}"
    )


def _measured(run: dict[str, object]) -> str:
    """Return whether the own work of replicas goes with their squared lengths."""
    found = run["work_correlation"]
    if not isinstance(found, float):
        return ""
    of = plural(int(str(run["work_count"])), "replica and step", "replicas and steps")
    goes = "goes" if found >= _GOES_FROM else "does not go"
    told = f"{round(found, 2) + 0:.2f}".replace("-", "\N{MINUS SIGN}")
    return (
        f" The own work of replicas {goes} with it: correlation {told} over {of},"
        " slow GPUs included."
    )


def _limits(feeds: pl.DataFrame) -> list[str]:
    spots = feeds["blind_spots"].drop_nulls().str.split("; ").explode().unique().sort()
    told = spots.to_list()
    return [f"What cannot be told: {listed(told, 6)}."] if told else []
