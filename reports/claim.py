"""One incident as a page that a provider can be sent: facts, lines, cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from analysis import Frames
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.incidents import IncidentEvents, Incidents
from analysis.interruptions import Interruptions
from analysis.lemon_nodes import LemonNodes
from analysis.loss_phases import LossPhases
from ingest.quoting import Quotes
from ingest.tables import Failures, IngestedFiles, Table
from reports import (
    _assets,
    _claim_asked,
    _claim_contract,
    _claim_cost,
    _claim_history,
    _claim_raw,
    _claim_stop,
    _claim_unknown,
    _claim_what,
    _numbers,
)
from reports._claim_facts import Facts, facts_of
from reports._claim_parts import second
from reports._section import Scope
from reports._words import listed, name

#: Every table that the page reads.
INPUTS: Final[tuple[type[Table], ...]] = (
    Incidents,
    IncidentEvents,
    Interruptions,
    Attempts,
    Gpus,
    LemonNodes,
    LossPhases,
    Failures,
    IngestedFiles,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """The page, the sentence that it opens with, and notes that are not on it."""

    html: str
    headline: str
    notes: tuple[str, ...]


def build(
    frames: Frames,
    incident_id: str,
    quotes: Mapping[str, Quotes],
    scope: Scope,
    window_days: float,
) -> Claim:
    """Return the page about an incident: one HTML text that carries all it needs.

    It holds nothing about other nodes, and no path of the machine that made it.

    Args:
        frames: The tables of `INPUTS`.
        incident_id: Incident that is in them.
        quotes: Lines found again in the files, by `file_id`.
        scope: Prices, and what made the numbers.
        window_days: Days from the first sign within which to claim. [d]
    """
    from reports._jinja import environment

    facts = facts_of(frames, incident_id, quotes)
    now_ns = scope.provenance.generated_ns
    headline = sentence(facts, scope)
    style, policy = _assets.style_alone("page.css", "claim.css")
    html = (
        environment()
        .get_template("claim.html.jinja")
        .render(
            headline=headline,
            doubt=_claim_asked.doubt(facts),
            incident_id=incident_id,
            parts=[
                _claim_what.part(facts),
                _claim_raw.part(facts),
                _claim_stop.part(facts, frames, scope),
                _claim_history.part(facts, frames),
                _claim_unknown.part(facts, scope),
                _claim_asked.part(facts, scope),
            ],
            version=scope.provenance.version,
            generated=_numbers.utc(now_ns),
            style=style,
            policy=policy,
        )
    )
    return Claim(html, headline, _claim_contract.notes(facts, window_days, now_ns))


def sentence(facts: Facts, scope: Scope) -> str:
    """Return what happened, in one sentence.

    Args:
        facts: The incident.
        scope: Prices of the runs.
    """
    first, gpu = facts.incident["first_ns"], facts.gpu
    which = f" (GPU at PCI address {name(gpu['pci'])})" if gpu["pci"] else ""
    when = f" at {second(first)}" if first is not None else ", at an unknown time"
    told = f"{facts.told}, {_where(facts)}{which}{when}"
    if facts.stops.is_empty():
        return f"{told}; no stop of a run is laid to it."
    runs = [name(run) for run in sorted(set(facts.stops["run_id"]))]
    noun = "run" if len(runs) == 1 else "runs"
    lost = _claim_cost.cost(facts, scope)
    return f"{told} stopped {noun} {listed(runs)} and cost {lost}."


def _where(facts: Facts) -> str:
    if not facts.hosts:
        return "on a node that no source names"
    noun = "node" if len(facts.hosts) == 1 else "nodes"
    return f"on {noun} {listed([name(host) for host in facts.hosts])}"
