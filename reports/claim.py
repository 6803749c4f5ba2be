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
    _claim_contract,
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
    """The page, the sentence that it opens with, and until when to claim."""

    html: str
    headline: str
    due: str


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
            incident_id=incident_id,
            parts=[
                _claim_what.part(facts),
                _claim_raw.part(facts),
                _claim_stop.part(facts, frames, scope),
                _claim_history.part(facts, frames),
                _claim_unknown.part(facts, scope),
                _claim_contract.part(facts, window_days, now_ns),
            ],
            version=scope.provenance.version,
            generated=_numbers.utc(now_ns),
            style=style,
            policy=policy,
        )
    )
    due = _claim_contract.heading(facts, window_days, now_ns)
    return Claim(html, headline, f"{due} Check your contract.")


def sentence(facts: Facts, scope: Scope) -> str:
    """Return what happened, in one sentence.

    Args:
        facts: The incident.
        scope: Prices of the runs.
    """
    incident = facts.incident
    first, host, gpu = incident["first_ns"], incident["host"], facts.gpu
    meaning = name(incident["name"] or facts.code, 120)
    which = f" (GPU {name(gpu['pci'] or gpu['uuid'])})" if gpu["pci"] else ""
    where = f" on node {name(host)}" if host else " on several nodes or none named"
    when = f" at {second(first)}" if first is not None else ", at an unknown time"
    told = f"{name(facts.code)}, {meaning},{where}{which}{when}"
    if facts.stops.is_empty():
        return f"{told}; no stop of a run is laid to it."
    runs = [name(run) for run in sorted(set(facts.stops["run_id"]))]
    noun = "run" if len(runs) == 1 else "runs"
    lost = _claim_stop.cost(facts, scope)
    return f"{told} stopped {noun} {listed(runs)} and cost {lost}."
