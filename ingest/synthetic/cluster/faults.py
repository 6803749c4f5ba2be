"""The faults of a cluster, listed and drawn: what, where, when, how bad."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from ingest.synthetic.cluster._scenario_faults import STOPPING

#: Behind every calendar: the last time that 64 bits hold, in the year 2262. [ns]
NEVER_NS: Final = 2**63 - 1

#: What the analyses call the cause of what makes ranks slow.
CAUSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "slow_gpu": "low_clock",
        "thermal_cap": "thermal_slowdown",
        "power_cap": "power_cap",
        "slow_link": "slow_link",
        "flow_collision": "slow_link",
        "data_stall": "data_loading",
    }
)


@dataclass(frozen=True, slots=True)
class PlacedFault:
    """A fault that happens. Times in ns.

    Attributes:
        number: Position among all faults.
        kind: What it is, see the scenario.
        ranks: Ranks it is at; empty where it is at none, or at all.
        host: Node, where it is at one.
        from_ns: When it begins; a stop strikes then.
        to_ns: When it is over.
        from_step: Step that it begins with instead, where the scenario says so.
        steps: Steps that it lasts, where the scenario says so.
        severity: How bad it is. [1, s]
        cause: Cause in the words of the analyses, or of table 5 for stops.
        category: Category of a stop, in the words of table 5.
        component: What the reader of lists of interruptions takes a stop's cause for.
        xid: Code that the driver prints.
        planned: Whether it was meant.
        hangs: Whether nothing tells of a stop before the watchdog does.
        origin: Number of the listed fault that it is one of, as of a lemon node.
        draw: What its draws go by: the same whatever other faults there are.
    """

    number: int
    kind: str
    ranks: tuple[int, ...]
    host: int | None
    from_ns: int
    to_ns: int
    severity: float
    cause: str
    from_step: int | None = None
    steps: int | None = None
    category: str = ""
    component: str = ""
    xid: int | None = None
    planned: bool = False
    hangs: bool = False
    origin: int | None = None
    draw: int = 0

    @property
    def stops(self) -> bool:
        """Whether it stops the run."""
        return self.kind in STOPPING or self.kind == "stop"

    @property
    def saves(self) -> bool:
        """Whether the run saves before it stops: it is meant to, or warned in time."""
        return self.planned or self.kind == "preemption"
