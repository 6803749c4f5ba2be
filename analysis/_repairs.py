"""Repairs that a run can be imagined with, and how each is written."""

from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal[
    "rank",
    "gpu",
    "host",
    "rack",
    "replica",
    "stage",
    "workers",
    "link",
    "kind",
    "communication",
    "clocks",
    "gc",
    "sequence-lengths",
    "data",
    "checkpoint",
    "everything",
]

#: How each repair is written.
FORMS: Final[dict[Kind, str]] = {
    "rank": "rank=7, rank=3..5 or rank=1,2",
    "gpu": "gpu=UUID",
    "host": "host=NAME",
    "rack": "rack=NAME",
    "replica": "replica=3",
    "stage": "stage=15 or stage=last",
    "workers": "workers=slowest",
    "link": "link=A-B",
    "kind": "kind=OPERATION",
    "communication": "communication, communication=hidden or communication=dp",
    "clocks": "clocks",
    "gc": "gc",
    "sequence-lengths": "sequence-lengths",
    "data": "data",
    "checkpoint": "checkpoint=every 100 steps",
    "everything": "everything",
}

#: Kinds of parallelism that communication may be of.
PARALLEL: Final = ("dp", "tp", "pp", "cp", "ep")

#: What communication becomes: it takes no time, or only what compute cannot hide.
FREE: Final = "free"
HIDDEN: Final = "hidden"

#: The last stage, and the slowest workers, whichever they are.
LAST: Final = "last"
SLOWEST: Final = "slowest"


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that is imagined repaired.

    Attributes:
        kind: What sort of thing it is.
        text: How it is written, the same for all ways to write it.
        name: Which host, link, kind of operation or communication; a keyword.
        number: Which stage or replica; of checkpoints, the steps between two. [1]
        ranks: Global ranks as ranges, both ends included.
    """

    kind: Kind
    text: str
    name: str = ""
    number: int | None = None
    ranks: tuple[tuple[int, int], ...] = ()


EVERYTHING: Final = Repair("everything", "everything")


def of_name(kind: Kind, name: str) -> Repair:
    """Return the repair of a thing that has a name."""
    return Repair(kind, f"{kind}={name}", name=name)


def of_number(kind: Kind, number: int) -> Repair:
    """Return the repair of a thing that has a number."""
    return Repair(kind, f"{kind}={number}", number=number)


def of_ranks(ranges: tuple[tuple[int, int], ...]) -> Repair:
    """Return the repair of ranks, in order and each once.

    Args:
        ranges: Ranges of ranks, both ends included.
    """
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    told = ",".join(f"{a}" if a == b else f"{a}..{b}" for a, b in merged)
    return Repair("rank", f"rank={told}", ranks=tuple(merged))
