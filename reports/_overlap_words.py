"""Kinds of communication and axes of a layout as people write them."""

from typing import Final

from reports._words import name

_KINDS: Final = {
    "allreduce": "all-reduce",
    "allgather": "all-gather",
    "reducescatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "sendrecv": "send/receive",
    "send_recv": "send/receive",
    "unknown": "communication of an unknown kind",
}

#: All ranks, as descriptions of groups say it.
_WORLD: Final = "world"

_UNKNOWN: Final = "unknown"


def kind_in_words(kind: str) -> str:
    """Return a kind of collective as its literature writes it."""
    return _KINDS.get(kind, name(kind, 24))


def axis_in_words(axis: str) -> str:
    """Return what a group of ranks is for: DP, TP, ..."""
    if axis in {_WORLD, _UNKNOWN}:
        return "all ranks" if axis == _WORLD else "unknown group"
    return name(axis, 12).upper()


def both_in_words(axis: str, kind: str) -> str:
    """Return a kind with the axis of its groups, where it is known: DP all-reduce.

    Args:
        axis: What the groups are for.
        kind: Kind of collective.
    """
    said = kind_in_words(kind)
    if axis in {_WORLD, _UNKNOWN}:
        return f"{said} of all ranks" if axis == _WORLD else said
    return f"{axis_in_words(axis)} {said}"
