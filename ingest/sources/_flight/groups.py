"""Groups of ranks of a dump, and the rank that wrote it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ingest.sources._flight.document import Document
from ingest.sources._flight.values import integer_of, text_of

#: Members that PyTorch's profiler prints of a group: a larger one is known by these and
#: by its size, in dumps as in traces.
PRINTED: Final = 30

_MEMBERS: Final = re.compile(
    r"\s*\[?\s*(?:[0-9]{1,9}\s*(?:,\s*[0-9]{1,9}\s*)*)?,?\s*\]?\s*"
)
_NUMBER: Final = re.compile(r"[0-9]{1,9}")

#: The rank at the end of a name: `nccl_trace_rank_3`, `_dump_12`, `rank7.json`.
_RANK: Final = re.compile(
    r"(?:^|[^0-9])([0-9]{1,7})(?:\.(?:pickle|pkl|json|bin|dump|txt))?$"
)

#: A send or receive: the rank itself comes first, both by position in the group.
PAIR: Final = re.compile(r"(?:send|recv)\s*([0-9]{1,9})\s*(?:->|<-)\s*([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Group:
    """A group of ranks.

    Attributes:
        name: Its name, the same on all ranks.
        purpose: What it is for, as a description.
        members: Global ranks of its members; empty where unknown.
    """

    name: str
    purpose: str | None
    members: tuple[int, ...]

    @property
    def group_id(self) -> str:
        """Name and members, as traces of the same group tell them."""
        printed = ",".join(str(rank) for rank in self.members[:PRINTED])
        if len(self.members) > PRINTED:
            return f"{self.name}:[{printed},...]:x{len(self.members)}"
        return f"{self.name}:[{printed}]" if self.members else f"{self.name}:"

    @property
    def size(self) -> int | None:
        """Ranks of the group, where they are known. [1]"""
        return len(self.members) or None

    def member(self, position: int) -> int | None:
        """Return the global rank at a position in the group."""
        known = 0 <= position < len(self.members)
        return self.members[position] if known else None


def groups_of(document: Document) -> dict[str, Group]:
    """Return the groups of a dump by name: those told, and those of its entries."""
    groups: dict[str, Group] = {}
    # members that are one object in a pickle are looked at once
    members: dict[int, tuple[int, ...]] = {}
    for key, told in document.groups.items():
        facts = told if isinstance(told, dict) else {}
        name, ranks = text_of(facts.get("name")) or text_of(key), facts.get("ranks")
        if name:
            if id(ranks) not in members:
                members[id(ranks)] = _members(ranks)
            groups[name] = Group(name, text_of(facts.get("desc")), members[id(ranks)])
    for entry in document.entries:
        name, purpose = name_of(entry)
        if name and name not in groups:
            groups[name] = Group(name, purpose, ())
    return groups


def name_of(entry: object) -> tuple[str | None, str | None]:
    """Return the name and the description of the group of an entry."""
    told = entry.get("process_group") if isinstance(entry, dict) else None
    if isinstance(told, list | tuple):
        names = [*map(text_of, told[:2]), None, None]
        return names[0], names[1]
    return text_of(told), None


def _members(told: object) -> tuple[int, ...]:
    if isinstance(told, str) and _MEMBERS.fullmatch(told):
        told = [int(number) for number in _NUMBER.findall(told)]
    if not isinstance(told, list | tuple):
        return ()
    ranks = [integer_of(rank) for rank in told]
    known = [rank for rank in ranks if rank is not None and 0 <= rank < 1 << 31]
    return tuple(known) if len(known) == len(ranks) else ()


def rank_of(document: Document, groups: Mapping[str, Group], name: str) -> int | None:
    """Return the global rank that wrote a dump; None where nothing tells it.

    A rank is in all its groups, and comes first in its sends and receives. Where that
    leaves more than one, the name of the file decides between them.

    Args:
        document: The dump.
        groups: Its groups.
        name: Name of the file.
    """
    told = {id(group.members): group.members for group in groups.values()}
    sets = [set(members) for members in told.values() if members]
    possible = set.intersection(*sets) if sets else set()
    seen = (_self(entry, groups) for entry in document.entries)
    selves = {rank for rank in seen if rank is not None}
    if len(selves) == 1 and (not possible or selves <= possible):
        return selves.pop()
    if len(possible) == 1:
        return possible.pop()
    match = _RANK.search(name)
    rank = int(match[1]) if match else None
    return rank if not possible or rank in possible else None


def _self(entry: object, groups: Mapping[str, Group]) -> int | None:
    group = groups.get(name_of(entry)[0] or "")
    if group is None or not isinstance(entry, dict):
        return None
    pair = PAIR.search(text_of(entry.get("profiling_name")) or "")
    return group.member(int(pair[1])) if pair else None
