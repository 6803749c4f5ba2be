"""Kinds of communication and axes of a layout as people write them."""

from typing import Final

from reports._words import name

_KINDS: Final = {
    "allreduce": "all-reduce",
    "allgather": "all-gather",
    "reducescatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "sendrecv": "send/receive",
    "unknown": "communication of an unknown kind",
}

#: What the groups are of which a description says that they are all ranks, or nothing.
_GROUPS: Final = {"world": "all ranks", "unknown": "unknown group"}


def kind_in_words(kind: str) -> str:
    """Return a kind of collective as its literature writes it."""
    return _KINDS.get(kind, name(kind, 24))


def axis_in_words(axis: str) -> str:
    """Return what a group of ranks is for: DP, TP, ..."""
    return _GROUPS.get(axis, name(axis, 12).upper())


def both_in_words(axis: str, kind: str) -> str:
    """Return a kind with the axis of its groups: DP all-reduce.

    Args:
        axis: What the groups are for.
        kind: Kind of collective.
    """
    if axis in _GROUPS:
        return f"{kind_in_words(kind)}, {_GROUPS[axis]}"
    return f"{axis_in_words(axis)} {kind_in_words(kind)}"
