"""What faults of a feed cost, what stalls and long documents do, in words."""

from decimal import Decimal
from typing import Final

import polars as pl

from analysis.data_feed import ATTENTION_SHARE
from reports._numbers import duration, grouped, percent, significant
from reports._section import Scope
from reports._words import listed, plural
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
