"""What a provider is asked for, and where to answer."""

from typing import Final

from reports import _claim_cost
from reports._claim_facts import Facts
from reports._claim_parts import Part, instant
from reports._section import Scope
from reports._words import listed, name

#: What only who sends the page knows: left to be written in.
BLANKS: Final = (
    "Account or tenant",
    "Contract or order",
    "Ticket",
    "Contact for questions",
)


def part(facts: Facts, scope: Scope) -> Part:
    """Return what is asked for: a credit, a repair and an answer.

    Args:
        facts: The incident.
        scope: Prices of the runs.
    """
    return Part(
        name="asked",
        title="What is asked for",
        heading=_heading(facts, scope),
        points=_answers(facts) if facts.doubt else [*_repair(facts), *_answers(facts)],
        blanks=BLANKS,
    )


def doubt(facts: Facts) -> str:
    """Say that nothing points at the provider; nothing where something does.

    Args:
        facts: The incident.
    """
    if not facts.doubt:
        return ""
    return f"Nothing here points at the provider: {facts.doubt}."


def _heading(facts: Facts, scope: Scope) -> str:
    if facts.doubt:
        return "What the provider saw; no credit is asked for."
    if facts.stops.is_empty():
        return "A check and a repair; no stop of a run is laid to it."
    return f"A credit for {_claim_cost.cost(facts, scope)}, and a repair."


def _repair(facts: Facts) -> list[str]:
    gpu = facts.gpu
    known = [
        f"{word} {name(str(gpu[key]))}"
        for key, word in (
            ("serial", "serial"),
            ("uuid", "UUID"),
            ("pci", "PCI address"),
        )
        if gpu[key]
    ]
    part_of = f", GPU {listed(known)}," if known else ""
    where = listed([name(host) for host in facts.hosts])
    return [f"A check of {where}{part_of} and its repair before it is used again."]


def _answers(facts: Facts) -> list[str]:
    first = facts.incident["first_ns"]
    at = "then" if first is None else f"around {instant(first)}"
    return [
        f"What the provider's own monitoring saw {at}.",
        "Cause, and when the part was repaired or replaced, if it was.",
    ]
