"""Nodes that are taken away after a failure, and when they are back."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ingest.synthetic.cluster.calendar import Attempt
from ingest.synthetic.cluster.faults import PlacedFault

#: How long before the next start a node is back at most. [ns]
BACK_BEFORE_NS: Final = 40_000_000_000


@dataclass(frozen=True, slots=True)
class Outage:
    """Time without a node. [ns]

    Attributes:
        host: The node, counted from 0.
        down_ns: Since when it says nothing.
        boot_ns: When it starts again; its counters begin anew.
        fault: What it was taken away for.
    """

    host: int
    down_ns: int
    boot_ns: int
    fault: PlacedFault


def outages(attempts: Sequence[Attempt]) -> tuple[Outage, ...]:
    """Return the outages of a run: a node at fault is restarted before the next try."""
    found = []
    for attempt, following in pairwise(attempts):
        stop = attempt.stop
        if stop is not None and stop.host is not None and not stop.planned:
            pause = following.start_ns - attempt.end_ns
            boot = following.start_ns - min(BACK_BEFORE_NS, pause // 2)
            found.append(Outage(stop.host, attempt.end_ns, boot, stop))
    return tuple(found)
