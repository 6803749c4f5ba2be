"""What an incident stopped, how long each phase took, and what that cost."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis.attempts import Attempts
from reports import _claim_cost
from reports._claim_facts import STOP, Facts
from reports._claim_parts import NOT_KNOWN, Part, instant
from reports._numbers import duration, grouped, significant
from reports._partly import partly
from reports._section import Column, Listing, Scope
from reports._words import listed, name, plural, said
from reports.dollars import NS_PER_GPU_HOUR, rate_in_words

_COLUMNS: Final = (
    Column("Phase", "In order, from the end of the last completed step on."),
    Column("From"),
    Column("To"),
    Column("Took", is_number=True),
    Column("GPU-hours paid", is_number=True),
    Column("USD", is_number=True),
)

#: Phases as they are called on the page.
_PHASES: Final = {
    "hang": "last step to first sign",
    "detect": "to the end of the attempt",
    "decide": "to its resubmission",
    "requeue": "to the next start",
    "start": "to the first new step",
    "recompute": "steps done again",
}


def part(facts: Facts, frames: Frames, scope: Scope) -> Part:
    """Return what was stopped: each stop with its phases and their cost."""
    if facts.stops.is_empty():
        return Part(
            name="stopped",
            title="What it stopped",
            heading="No stop of a run is laid to it.",
            paragraphs=[_none(facts)],
        )
    ours = facts.stops.select("run_id", "attempt")
    held = frames[Attempts].join(ours.lazy(), on=["run_id", "attempt"], how="semi")
    attempts = {_key(row): row for row in held.collect().to_dicts()}
    runs = sorted(set(facts.stops["run_id"]))
    prices = [f"{name(run)} at {rate_in_words(scope.price(run))}" for run in runs]
    return Part(
        name="stopped",
        title="What it stopped",
        heading=f"It stopped {plural(len(runs), 'run')} and cost"
        f" {_claim_cost.cost(facts, scope)}.",
        paragraphs=[
            *_stood_still(facts, attempts),
            (
                f"The table has what the run paid for in each phase{_queue(facts)}."
                " Steps done again are those between the last checkpoint and the stop."
            ),
            f"Price: {listed(prices)}.",
        ],
        listings=[
            _listing(facts, stop, attempts.get(_key(stop)), scope)
            for stop in facts.stops.to_dicts()
        ],
    )


def _queue(facts: Facts) -> str:
    """Say whether waiting between two attempts was paid for, as it was booked."""
    waited = facts.phases.filter(pl.col("phase").is_in(["decide", "requeue"]))
    lasted = waited.filter(pl.col("duration_ns") > 0)
    if lasted.is_empty():
        return ""
    if int(lasted["gpu_ns"].cast(pl.Int128).fill_null(0).sum()):
        return ", the wait for the next start with it: its nodes stayed reserved"
    if lasted["gpu_ns"].null_count():
        return ""
    return ", and nothing while it waited in a queue: its nodes are held by the job"


def _key(row: Mapping[str, Any]) -> tuple[str, int]:
    return str(row["run_id"]), int(row["attempt"])


def _stood_still(
    facts: Facts, attempts: Mapping[tuple[str, int], Mapping[str, Any]]
) -> list[str]:
    """Return how long how many GPUs were without a step, paid for or not."""
    texts = []
    still = facts.phases.filter(pl.col("phase") != "recompute")
    spans = still.group_by(STOP).agg(
        stood=pl.col("duration_ns").sum(),
        is_whole=pl.col("gpu_ns").is_not_null().all(),
    )
    for row in spans.sort(STOP).to_dicts():
        count = attempts.get(_key(row), {}).get("gpu_count")
        stood = row["stood"]
        if count and stood:
            hours = Decimal(stood * count) / NS_PER_GPU_HOUR
            words = f"{duration(stood)}: {significant(hours)} GPU-hours"
            told = partly(words, has_known=True, is_whole=row["is_whole"])
            texts.append(
                f"{plural(count, 'GPU')} of {name(row['run_id'])} stood without a step"
                f" for {told}, paid for or not."
            )
    return texts


def _none(facts: Facts) -> str:
    held = facts.incident["host"]
    where = f"node {name(held)}" if held else "its nodes"
    return (
        f"Either no run held {where} then, or none ended around it, or another cause"
        " was found for its end. What the GPUs cost meanwhile is not known from this."
    )


def _listing(
    facts: Facts, stop: dict[str, Any], attempt: dict[str, Any] | None, scope: Scope
) -> Listing:
    run, number = str(stop["run_id"]), int(stop["attempt"])
    ours = [pl.col(part) == stop[part] for part in STOP]
    rows = facts.phases.filter(ours).to_dicts()
    costs = [int(row["gpu_ns"] or 0) for row in rows]
    hours, usd = _claim_cost.rounded(costs, scope.price(run))
    count, job = (attempt or {}).get("gpu_count"), (attempt or {}).get("job_id")
    gpus = plural(int(count), "GPU") if count else f"GPUs {NOT_KNOWN}"
    of_job = f", job {name(str(job))}" if job else ""
    cells = [
        (
            _PHASES.get(row["phase"], said(row["phase"])),
            _at(row["from_ns"]),
            _at(row["to_ns"]),
            _took(row),
            NOT_KNOWN if row["gpu_ns"] is None else grouped(paid),
            NOT_KNOWN if row["gpu_ns"] is None else grouped(cost),
        )
        for row, paid, cost in zip(rows, hours, usd, strict=True)
    ]
    lost = stop["lost_steps"]
    again = "steps done again not known"
    steps = again if lost is None else f"{plural(int(lost), 'step')} done again"
    return Listing(
        title=f"Run {name(run)}, attempt {grouped(number)}{of_job}: {gpus},"
        f" {steps}, {said(str(stop['category']))}",
        columns=_COLUMNS,
        rows=cells,
        total=(
            "together",
            "",
            "",
            _span(rows),
            _together(hours, rows),
            _together(usd, rows),
        ),
    )


def _together(parts: list[Decimal], rows: list[dict[str, Any]]) -> str:
    """Return a sum as it stands; of phases that are not known, what it is at least."""
    is_whole = all(row["gpu_ns"] is not None for row in rows)
    whole = sum(parts, Decimal())
    return partly(grouped(whole), has_known=whole > 0, is_whole=is_whole)


def _at(ns: int | None) -> str:
    return "" if ns is None else instant(ns).removesuffix(" UTC")


def _took(row: dict[str, Any]) -> str:
    took = row["duration_ns"]
    return "" if took is None else duration(took)


def _span(rows: list[dict[str, Any]]) -> str:
    """Return how long all phases took together, the steps done again with them."""
    known = [row["duration_ns"] for row in rows if row["duration_ns"] is not None]
    if not known:
        return ""
    is_part = any(row["duration_ns"] is None and row["gpu_ns"] for row in rows)
    return f"at least {duration(sum(known))}" if is_part else duration(sum(known))
