"""Node lists of Slurm (node[01-04,07]) as names, without letting one explode."""

import re
from collections.abc import Iterable
from typing import Final

import hostlist

#: Nodes of one job: more than any machine has; a list that gives more is refused.
JOB_NODES: Final = 100_000

#: Nodes of all lists of a block of 4 MiB, each list counted once: 17,000 jobs of 235
#: nodes, no two alike; some 40 MB as text.
BLOCK_NAMES: Final = 4_000_000

#: Characters of a node list; 100,000 scattered nodes fit.
LIST_CHARACTERS: Final = 1 << 20

#: Brackets of one name (rack[1-4]node[1-8]); the expansion recurses over them.
NAME_BRACKETS: Final = 4

#: Words that sacct writes where there is no node.
NO_NODE: Final = frozenset({"", "None", "None assigned", "N/A"})

_BRACKET: Final = re.compile(r"\[([^\[\]]*)\]")
_RANGE: Final = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_NAME: Final = re.compile(r"(?:[^,\[\]\s]|\[[0-9,-]+\])+")


def expand_all(lists: Iterable[str]) -> dict[str, str | None]:
    """Return the nodes of each list of a block of records, as `expand` does.

    Lists that come after BLOCK_NAMES names are no lists, either: a few bytes give many.
    """
    left = BLOCK_NAMES
    known: dict[str, str | None] = {}
    for text in lists:
        if text not in known:
            known[text] = found = expand(text) if _count(text) <= left else None
            left -= _count(text) if found is not None else 0
    return known


def expand(text: str) -> str | None:
    """Return the nodes of a list, separated by commas; None where it is no list.

    Lists that would give more than JOB_NODES names are no lists.
    """
    if _count(text) > JOB_NODES:
        return None
    try:
        return ",".join(hostlist.expand_hostlist(text))
    except hostlist.BadHostlist:
        return None


def _count(text: str) -> int:
    """Return how many nodes a list gives; too many where it is no list."""
    names = [match.group() for match in _NAME.finditer(text)]
    is_list = len(text) <= LIST_CHARACTERS and ",".join(names) == text
    return sum(map(_size, names)) if is_list else BLOCK_NAMES + 1


def _size(name: str) -> int:
    """Return how many nodes a name stands for; too many where it is not sane."""
    brackets = _BRACKET.findall(name)
    if len(brackets) > NAME_BRACKETS:
        return JOB_NODES + 1
    size = 1
    for bracket in brackets:
        size *= sum(_width(part) for part in bracket.split(","))
    return size


def _width(part: str) -> int:
    """Return the numbers of a range; too many where it is not one."""
    if found := _RANGE.fullmatch(part):
        return max(int(found[2]) - int(found[1]) + 1, 0)
    return 1 if _NUMBER.fullmatch(part) else JOB_NODES + 1
