"""What the page about an incident cannot say."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from reports._claim_facts import Facts
from reports._claim_parts import Part
from reports._section import Scope
from reports._words import listed, name

#: What a GPU is known by.
_NAMES: Final = {"uuid": "UUID", "serial": "serial", "pci": "PCI address"}


def part(facts: Facts, scope: Scope) -> Part:
    """Return what is not known, a sentence each."""
    points = list(_points(facts, scope))
    return Part(
        name="unknown",
        title="What is not known",
        heading="What these sources do not tell.",
        points=points,
    )


def _points(facts: Facts, scope: Scope) -> Iterator[str]:
    missing = [word for key, word in _NAMES.items() if facts.gpu[key] is None]
    if facts.gpu["key"] is None:
        yield "Which GPU it was: no line names one."
    elif missing:
        yield f"The GPU's {listed(missing)}: no line and no host map names it."
    if facts.gpu["rank"] is None:
        yield "Which rank of a run the GPU was: no host map names it."
    if facts.lines["inferred"].any():
        yield "The code: it was taken from words, not read as a number."
    yield (
        "What the provider's own monitoring saw (management controller, switches,"
        " power, other tenants): none of it is in these files."
    )
    if facts.incident["first_ns"] is not None and not facts.is_written_down:
        yield "How far the clock that told the times was off."
    if facts.lines["end_ns"].null_count() == facts.lines.height:
        yield "When the part was repaired or replaced: no source tells."
    yield from _of_stops(facts, scope)


def _of_stops(facts: Facts, scope: Scope) -> Iterator[str]:
    marks = {
        "last_step_end_ns": "when the last step ended",
        "decided_ns": "when the attempt ended",
        "requeued_ns": "when it was submitted again",
        "first_step_ns": "when the run went on",
    }
    if facts.stops.is_empty():
        return
    blank = [
        words for mark, words in marks.items() if facts.stops[mark].null_count() > 0
    ]
    if blank:
        yield f"Of the run: {listed(blank, 4)}."
    others = facts.stops.filter(pl.col("other_incident_ids").is_not_null()).height
    if others:
        yield (
            "Whether it was this alone: other incidents showed on the nodes of the run"
            " around the same time, less severe or later."
        )
    defaults = [
        name(run)
        for run in sorted(set(facts.stops["run_id"]))
        if scope.price(run).source == "default"
    ]
    if defaults:
        yield f"The price of {listed(defaults)}: nobody gave one, a default is used."
