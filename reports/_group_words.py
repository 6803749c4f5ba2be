"""Groups of ranks as people name them: what they are for, and who is in them."""

import re
from typing import Final

from reports._overlap_words import both_in_words
from reports._words import name

#: A group that is told by its members, behind its number.
_MEMBERS: Final = re.compile(r"(?:[0-9]+:)?\[([0-9]+(?:, ?[0-9]+)*)\]")

#: Name of the group of all ranks.
_WORLD: Final = "world"

#: Members that are all named; of more, the first two and the last.
_MOST: Final = 3

#: Characters of a name that tells no members.
_NAME_LIMIT: Final = 24


def group_in_words(
    group_id: str, axis: str | None, kind: str, *, between: str = " of "
) -> str:
    """Return a kind of collective with its group: DP all-reduce of ranks 1, 3, ... 15.

    Args:
        group_id: Name of the group.
        axis: What the group is for, where that is known.
        kind: Kind of collective.
        between: Stands between the kind and the members.
    """
    if _WORLD in {group_id, axis}:
        return both_in_words(_WORLD, kind)
    said = both_in_words(axis or "unknown", kind)
    return f"{said}{between}{members(group_id)}"


def members(group_id: str) -> str:
    """Return who is in a group, or its name where that does not tell.

    Args:
        group_id: Name of the group.
    """
    found = _MEMBERS.fullmatch(group_id)
    if found is None:
        return name(group_id, _NAME_LIMIT)
    ranks = [int(rank) for rank in found.group(1).split(",")]
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if len(ranks) > _MOST and ranks == list(range(ranks[0], ranks[-1] + 1)):
        return f"ranks {ranks[0]}\N{EN DASH}{ranks[-1]}"
    if len(ranks) > _MOST:
        return f"ranks {ranks[0]}, {ranks[1]}, \N{HORIZONTAL ELLIPSIS} {ranks[-1]}"
    return f"ranks {', '.join(map(str, ranks))}"
