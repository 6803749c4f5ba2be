"""The run on paper, and how far the run is from it."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

import polars as pl

from analysis import Frames
from analysis.flow_collisions import FlowCollisions
from analysis.plans import Plans
from reports import (
    _plan_chart,
    _plan_flow_chart,
    _plan_listings,
    _plan_size_chart,
)
from reports._numbers import percent, significant
from reports._plan_reasons import reasons
from reports._plan_seen import with_origin
from reports._plan_titles import title
from reports._plan_words import difference, in_words, priced
from reports._runs import of_runs
from reports._section import Content, Scope, Section
from reports._words import listed, name, plural
from reports.dollars import in_words as usd_in_words

#: Within this of the plan a line is as planned: a step's own noise is about as large
#: (reference runs: 0.5 to 3 %). [1]
AS_PLANNED: Final = 0.03

_STEP: Final = "step_time"
_RUN: Final = "run"

_HINT: Final = (
    "A run card, run.toml, beside the telemetry says what the run was meant to be:"
    " gpuledger plan run.toml shows every line, and which field would fill it."
)


def build(frames: Frames, scope: Scope) -> Content:
    """Return a plan line by line, beside what was measured."""
    plans = priced(scope.of_runs(frames[Plans]).collect(), scope.prices)
    if plans["value"].drop_nulls().is_empty():
        heading = "No run card says what a run was meant to be."
        return Content(heading=heading, empty=_HINT)
    run_id = _shown(plans)
    plan = with_origin(plans.filter(pl.col("run_id") == run_id).sort("number"))
    flows = frames[FlowCollisions].filter(pl.col("run_id") == run_id).collect()
    others = [one for one in plans["run_id"].unique().sort() if one != run_id]
    return Content(
        heading=_heading(plan, scope),
        paragraphs=[
            *_about(plan),
            *reasons(plan, AS_PLANNED),
            *_flows(flows, plan),
            *_others(run_id, others),
        ],
        charts=[
            *_plan_chart.chart(plan, run_id),
            *_plan_flow_chart.chart(flows, run_id),
            *_plan_size_chart.chart(plan, run_id),
        ],
        listings=_plan_listings.listings(plan, run_id),
        notes=_plan_listings.notes(plan),
    )


def _shown(plans: pl.DataFrame) -> str:
    """Return the run with most measured lines; of equal ones that with most told."""
    counts = plans.group_by("run_id").agg(
        pl.col("measured").count(), pl.col("value").count()
    )
    best = counts.sort("measured", "value", "run_id", descending=[True, True, False])
    return str(best["run_id"].to_list()[0])


def _cell(plan: pl.DataFrame, line: str, column: str) -> float | None:
    found = plan.filter(pl.col("name") == line)[column].to_list()
    return found[0] if found else None


def _heading(plan: pl.DataFrame, scope: Scope) -> str:
    whose = of_runs(plan["run_id"].to_list()[:1], scope)
    ratio = _cell(plan, _STEP, "difference_ratio")
    planned, measured = (
        in_words(_cell(plan, _STEP, column), "s") for column in ("value", "measured")
    )
    if ratio is None:
        return _unmeasured(plan, whose)
    if abs(ratio) <= AS_PLANNED:
        return f"Steps{whose} take as long as planned: {measured} for {planned}."
    more = _cell(plan, _RUN, "measured_usd"), _cell(plan, _RUN, "usd")
    cost = ""
    if None not in more:
        amount = usd_in_words(abs(Decimal(str(more[0])) - Decimal(str(more[1]))))
        side = "more" if ratio > 0 else "less"
        cost = f", {amount} {side} over all planned steps"
    return (
        f"A step{whose} takes {measured} where {planned} was planned"
        f" ({difference(ratio)}){cost}."
    )


def _unmeasured(plan: pl.DataFrame, whose: str) -> str:
    """Return the greatest difference from the plan where a step tells none."""
    apart = _furthest(plan)
    if apart:
        return apart
    usd = _cell(plan, _RUN, "usd")
    told = plan["value"].count()
    step = plan.filter(pl.col("name") == _STEP, "is_seen")["value"].to_list()
    taken = in_words(step[0], "s") if step and step[0] is not None else ""
    if usd is None:
        lines = f"{told} of {plural(plan.height, 'line')} of its plan"
        length = (
            f"a step took {taken}" if taken else "the length of a step is not known"
        )
        return f"The run card{whose} tells {lines}; {length}."
    amount = usd_in_words(Decimal(str(usd)))
    if taken:
        return f"With steps of {taken}, as measured, the run{whose} costs {amount}."
    return f"On paper the run{whose} costs {amount}; no step of it was measured."


def _furthest(plan: pl.DataFrame) -> str:
    own = plan.filter(
        ~pl.col("measured_from").str.starts_with("this line"),
        pl.col("difference_ratio").abs() > AS_PLANNED,
        pl.col("measured") > 0,
        pl.col("value") > 0,
    )
    order = (pl.col("measured") / pl.col("value")).log().abs()
    for row in own.sort(order, descending=True, maintain_order=True).to_dicts()[:1]:
        found, planned = (
            in_words(row[k], row["unit"], row["name"]) for k in ("measured", "value")
        )
        apart = difference(row["difference_ratio"])
        line = title(row["name"])
        return f"{line}: {found} where {planned} was planned ({apart})."
    return ""


def _about(plan: pl.DataFrame) -> list[str]:
    measured = plan["difference_ratio"].drop_nulls()
    near = int((measured.abs() <= AS_PLANNED).sum())
    lines, told = plural(plan.height, "line"), plan["value"].count()
    rest = "the rest wait for a field of the run card, below, or have no answer"
    said = [f"{told} of {lines} have a value; {rest}."]
    if measured.len():
        said.insert(
            0,
            f"{plural(measured.len(), 'line')} were measured, too: {near} of them"
            f" within {percent(AS_PLANNED)} of the plan.",
        )
    return said


def _flows(flows: pl.DataFrame, plan: pl.DataFrame) -> Sequence[str]:
    """Return what one flow for each pair costs against several."""
    known = flows.filter(pl.col("expected_ratio").is_not_null()).sort("flows_per_pair")
    if known.height <= 1:
        return []
    parts = [
        f"{plural(row['flows_per_pair'], 'flow')} for each pair"
        f" {significant(row['expected_ratio'])} times the mean load"
        f"{_tail(row['flows_per_pair'], plan)}"
        for row in known.to_dicts()
    ]
    return [
        (
            "Flows choose paths by a hash, so that some path carries more than its"
            f" share: with {'; with '.join(parts)}. A step ends with its slowest flow."
        )
    ]


def _tail(flows: int, plan: pl.DataFrame) -> str:
    line = f"{flows}_flows_collisions" if flows > 1 else "1_flow_collisions"
    usd = _cell(plan, line, "usd")
    if not usd:
        return ""
    amount = usd_in_words(Decimal(str(usd)))
    return f", which costs up to {amount} over all planned steps if nothing hides it"


def _others(run_id: str, others: Sequence[str]) -> list[str]:
    if not others:
        return []
    names = listed([name(one, 30) for one in others])
    own = "has lines" if len(others) == 1 else "have lines"
    shown = f"Shown is run {name(run_id, 30)}, of which most was measured"
    return [f"{shown}; {names} {own} in table plans, too."]


SECTION: Final = Section("plan", "Planned and measured", (Plans, FlowCollisions), build)
