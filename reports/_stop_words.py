"""Failures in words: lines, events and incidents, root causes, what was planned."""

from collections import Counter
from typing import Final

import polars as pl

from analysis._failure_roles import OPERATOR, is_planned_by_operator
from analysis.interrupt_rates import FEW_EVENTS
from reports import _code_words, _stop_split
from reports._words import listed, plural

#: Levels whose name says too little.
_LEVELS: Final = {"line": "failure line"}

#: Codes that are named; one more is, too, where it is the last.
_CODES: Final = 3

_INFERRED: Final = (
    " A failure line counts where its code was inferred from words, too ('fallen off"
    " the bus' without an Xid)."
)


def paragraphs(
    stops: pl.DataFrame,
    incidents: pl.DataFrame,
    rates: pl.DataFrame,
    *,
    has_runs: bool,
) -> list[str]:
    """Return counts at every level, the root causes, and what was planned.

    Args:
        stops: Rows of Interruptions.
        incidents: Rows of Incidents.
        rates: Rates of clusters over all causes.
        has_runs: Whether runs were seen at all.
    """
    told = [_levels(rates, has_runs=has_runs), _incidents(incidents), _planned(stops)]
    return [text for text in told if text]


def _levels(rates: pl.DataFrame, *, has_runs: bool) -> str:
    order = ["line", "event", "incident", "interruption"]
    sums = dict(rates.group_by("level").agg(pl.col("count").sum()).iter_rows())
    counts = [
        plural(int(sums[level]), _LEVELS.get(level, level))
        for level in order
        if level in sums and (has_runs or level != "interruption")
    ]
    if not counts:
        return ""
    few = has_runs and sums.get("interruption", 0) < FEW_EVENTS
    outside = int(rates.filter(pl.col("level") == "incident")["outside_count"].sum())
    beside = (
        f" {plural(outside, 'incident')} lie outside: on nodes that no attempt held, or"
        " without a time."
        if outside
        else ""
    )
    less = " Below 5 interruptions there is a count and no rate." if few else ""
    told = f"The same failures at every level: {listed(counts, 4)}."
    return f"{told}{_INFERRED}{beside}{less}"


def _incidents(incidents: pl.DataFrame) -> str:
    """Say which causes were told of; what was planned is none of them."""
    roots = incidents.filter((pl.col("role") == "root") & ~is_planned_by_operator())
    apart = f"{_stop_split.apart(incidents)}."
    if roots.is_empty():
        return f"No root cause; {apart}" if incidents.height else ""
    code = ["root_source", "root_code", "name"]
    counts: Counter[str] = Counter()
    for *root, count in roots.group_by(code).len().iter_rows():
        counts[_code_words.with_meaning(*root).replace(", ", " ")] += count
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    named = len(rows) if len(rows) <= _CODES + 1 else _CODES
    codes = [f"{cause} ({count})" for cause, count in rows[:named]]
    if rows[named:]:
        rest = sum(count for _, count in rows[named:])
        codes.append(f"{plural(len(rows) - named, 'more cause')} ({rest})")
    seen = plural(roots.height, "root cause")
    return f"{seen} {_where(roots)}: {listed(codes, _CODES + 1)}; {apart}"


def _where(roots: pl.DataFrame) -> str:
    """Return what told of causes: logs, the operator's own list, or both."""
    of_list = (roots["root_source"] == OPERATOR).sum()
    if not of_list:
        return "in the logs"
    if of_list == roots.height:
        return "in the operator's list"
    return "in the logs and the operator's list"


def _planned(stops: pl.DataFrame) -> str:
    planned = stops.filter("planned").height
    return f"{plural(planned, 'planned stop')} not counted." if planned else ""
