"""Nodes in the JSON of Slurm: of scontrol and slurmrestd, and of sinfo."""

from typing import Final

import msgspec

from ingest.sources._slurm.numbers import Told, Words, number

#: Most nodes of one entry of sinfo; more than any partition has.
ENTRY_NODES: Final = 100_000


class Node(msgspec.Struct):
    """A node of `scontrol show node --json`."""

    name: str | None = None
    hostname: str | None = None
    state: Words = None
    state_flags: list[str] | None = None
    reason: str | None = None
    reason_changed_at: Told = None


class _Names(msgspec.Struct):
    nodes: list[str] | None = None


class _State(msgspec.Struct):
    state: Words = None


class _Reason(msgspec.Struct):
    description: str | None = None
    time: Told = None


class Entry(msgspec.Struct):
    """An entry of `sinfo --json`: nodes that have all in common."""

    nodes: _Names | None = None
    node: _State | None = None
    reason: _Reason | None = None


def node_fields(node: Node | Entry) -> dict[str, str | None]:
    """Return the fields of a node as listings have them."""
    if isinstance(node, Entry):
        reason = node.reason or _Reason()
        names = (node.nodes.nodes or []) if node.nodes else []
        words = node.node.state if node.node else None
        return _fields(
            ",".join(names[:ENTRY_NODES]), words, reason.description, reason.time
        )
    flags = node.state_flags or []
    words = [node.state] if isinstance(node.state, str) else node.state or []
    name = node.name or node.hostname or ""
    return _fields(name, [*words, *flags], node.reason, node.reason_changed_at)


def _fields(
    names: str, words: Words, reason: str | None, since: Told
) -> dict[str, str | None]:
    state = words if isinstance(words, str) else "+".join(words or [])
    moment = number(since)
    return {
        "Nodes": names,
        "State": state or None,
        "Reason": reason,
        "Since": str(moment) if moment else None,
    }
