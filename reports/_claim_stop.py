"""What an incident stopped, how long each phase took, and what that cost."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis.attempts import Attempts
from reports._claim_facts import STOP, Facts
from reports._claim_parts import NOT_KNOWN, Part, instant
from reports._numbers import apportion, duration, grouped, significant
from reports._section import Column, Listing, Scope
from reports._words import listed, name, plural, said
from reports.dollars import NS_PER_GPU_HOUR, Price, dollars, rate_in_words

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

#: Digits of GPU-hours and of dollars: what is claimed is said to the cent.
_HOURS: Final = Decimal("0.0001")
_CENTS: Final = Decimal("0.01")

#: GPU-hours from which two digits say enough.
_MANY: Final = 10


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
        heading=f"It stopped {plural(len(runs), 'run')} and cost {cost(facts, scope)}.",
        paragraphs=[
            *_stood_still(facts, attempts),
            (
                "The table has what the run paid for in each phase: nothing while it"
                " waited in a queue for nodes that are rented by the job. Steps done"
                " again are those between the last checkpoint and the stop."
            ),
            f"Price: {listed(prices)}.",
        ],
        listings=[
            _listing(facts, stop, attempts.get(_key(stop)), scope)
            for stop in facts.stops.to_dicts()
        ],
    )


def cost(facts: Facts, scope: Scope) -> str:
    """Return what was lost to the stops, in words."""
    hours, usd = total(facts, scope)
    paid, lost = hours.quantize(_unit(hours)), usd.quantize(_CENTS)
    return f"{grouped(paid)} GPU-hours, {grouped(lost)} USD"


def total(facts: Facts, scope: Scope) -> tuple[Decimal, Decimal]:
    """Return the GPU time [h] and the dollars [USD] lost to all stops."""
    rows = facts.phases.select("run_id", "gpu_ns").iter_rows()
    paid = [(int(gpu_ns), scope.price(run)) for run, gpu_ns in rows]
    hours = Decimal(sum(gpu_ns for gpu_ns, _ in paid)) / NS_PER_GPU_HOUR
    return hours, sum((dollars(ns, price) for ns, price in paid), Decimal(0))


def _key(row: Mapping[str, Any]) -> tuple[str, int]:
    return str(row["run_id"]), int(row["attempt"])


def _stood_still(
    facts: Facts, attempts: Mapping[tuple[str, int], Mapping[str, Any]]
) -> list[str]:
    """Return how long how many GPUs were without a step, paid for or not."""
    texts = []
    still = facts.phases.filter(pl.col("phase") != "recompute")
    spans = still.group_by(STOP).agg(stood=pl.col("duration_ns").sum()).sort(STOP)
    for row in spans.to_dicts():
        count = attempts.get(_key(row), {}).get("gpu_count")
        stood = row["stood"]
        if count and stood:
            hours = Decimal(stood * count) / NS_PER_GPU_HOUR
            texts.append(
                f"{plural(count, 'GPU')} of {name(row['run_id'])} stood without a step"
                f" for {duration(stood)}: {significant(hours)} GPU-hours, paid for or"
                " not."
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
    hours, usd = _rounded([int(row["gpu_ns"]) for row in rows], scope.price(run))
    count, job = (attempt or {}).get("gpu_count"), (attempt or {}).get("job_id")
    gpus = plural(int(count), "GPU") if count else f"GPUs {NOT_KNOWN}"
    of_job = f", job {name(str(job))}" if job else ""
    cells = [
        (
            _PHASES.get(row["phase"], said(row["phase"])),
            _at(row["from_ns"]),
            _at(row["to_ns"]),
            _took(row),
            grouped(paid),
            grouped(cost),
        )
        for row, paid, cost in zip(rows, hours, usd, strict=True)
    ]
    lost = stop["lost_steps"]
    steps = plural(int(lost), "step") if lost is not None else "steps not known"
    return Listing(
        title=f"Run {name(run)}, attempt {grouped(number)}{of_job}: {gpus},"
        f" {steps} done again, {said(str(stop['category']))}",
        columns=_COLUMNS,
        rows=cells,
        total=(
            "together",
            "",
            "",
            _span(rows),
            grouped(sum(hours, Decimal())),
            grouped(sum(usd, Decimal())),
        ),
    )


def _rounded(gpu_ns: list[int], price: Price) -> tuple[list[Decimal], list[Decimal]]:
    """Return GPU-hours and dollars, rounded so that they still add up."""
    hours = [Decimal(ns) / NS_PER_GPU_HOUR for ns in gpu_ns]
    usd = [dollars(ns, price) for ns in gpu_ns]
    unit = _unit(sum(hours, Decimal()))
    return apportion(hours, unit), apportion(usd, _CENTS)


def _unit(hours: Decimal) -> Decimal:
    """Return what GPU-hours are rounded to: hundredths where there are many."""
    return _CENTS if hours >= _MANY else _HOURS


def _at(ns: int | None) -> str:
    return "" if ns is None else instant(ns).removesuffix(" UTC")


def _took(row: dict[str, Any]) -> str:
    took = row["duration_ns"]
    return "" if took is None else duration(took)


def _span(rows: list[dict[str, Any]]) -> str:
    """Return the time without a step: what is done again is steps."""
    stood = [row["duration_ns"] for row in rows if row["phase"] != "recompute"]
    known = [took for took in stood if took is not None]
    return duration(sum(known)) if known else ""
