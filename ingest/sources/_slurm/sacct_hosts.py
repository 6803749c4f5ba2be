"""Node lists of Slurm (node[01-04,07]) as names, without letting one explode."""

import re
from typing import Final

import hostlist

#: Nodes of one job: more than any machine has; a list that gives more is refused.
JOB_NODES: Final = 100_000

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


def expand(text: str) -> str | None:
    """Return the nodes of a list, separated by commas; None where it is no list.

    Lists that would give more than JOB_NODES names are no lists.
    """
    names = [match.group() for match in _NAME.finditer(text)]
    is_list = len(text) <= LIST_CHARACTERS and ",".join(names) == text
    if not is_list or sum(_size(name) for name in names) > JOB_NODES:
        return None
    try:
        return ",".join(hostlist.expand_hostlist(text))
    except hostlist.BadHostlist:
        return None


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
