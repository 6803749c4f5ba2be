"""Faults as a scenario lists them, or has them drawn."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final, Literal

import msgspec

from ingest.synthetic.cluster._scenario_parts import Rate, Seconds, Share, Whole

Kind = Literal[
    "slow_gpu",
    "thermal_cap",
    "power_cap",
    "slow_link",
    "flow_collision",
    "xid",
    "hang",
    "lemon_node",
    "data_stall",
    "checkpoint_storm",
    "preemption",
]

#: Kinds that stop the run; the others make steps longer.
STOPPING: Final = frozenset({"xid", "hang", "lemon_node", "preemption"})

#: Kinds that need a rank or a host.
PLACED: Final = frozenset(
    {"slow_gpu", "thermal_cap", "power_cap", "slow_link", "flow_collision"}
    | {"xid", "hang", "lemon_node"}
)

#: How bad a fault is where it does not say: ratio of own work, of communication or of
#: the checkpoint's stall; seconds that a step waits for data; stops of a lemon node.
SEVERITIES: Final[Mapping[str, float]] = MappingProxyType(
    {
        "slow_gpu": 1.10,
        "thermal_cap": 1.20,
        "power_cap": 1.12,
        "slow_link": 1.5,
        "flow_collision": 1.4,
        "xid": 1.0,
        "hang": 1.0,
        "lemon_node": 4.0,
        "data_stall": 1.0,
        "checkpoint_storm": 5.0,
        "preemption": 1.0,
    }
)


#: What these numbers are of.
OF_SEVERITY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "slow_gpu": "own work is longer by this factor",
        "thermal_cap": "the same, for heat",
        "power_cap": "the same, for a limit of power",
        "slow_link": "communication is longer by this factor",
        "flow_collision": "the same at all cards of a host, in each step anew",
        "xid": "the driver prints a code and the run stops; no severity",
        "hang": "ranks wait until calendar.watchdog_s is over; no severity",
        "lemon_node": "so many stops of one node within length_s",
        "data_stall": "seconds that steps wait for their input; at a rank, a host or"
        " all",
        "checkpoint_storm": "checkpoints take longer by this factor, for all",
        "preemption": "another job has the nodes for length_s; no severity",
    }
)


class Fault(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A fault that is to happen.

    Attributes:
        kind: What it is.
        rank: Rank whose GPU or card it is at.
        host: Host it is at, counted from 0: all of its GPUs.
        from_s: When it begins, after the calendar does. [s]
        from_step: Step that it begins with, instead.
        length_s: How long it lasts. [s]
        steps: Steps that it lasts, instead.
        severity: How bad it is, by its kind.
        xid: Code that the driver prints, of an `xid`.
    """

    kind: Kind
    rank: Whole | None = None
    host: Whole | None = None
    from_s: Annotated[float, msgspec.Meta(ge=0, le=7e7)] | None = None
    from_step: Whole | None = None
    length_s: Annotated[float, msgspec.Meta(ge=1e-3, le=7e7)] | None = None
    steps: Annotated[int, msgspec.Meta(ge=1)] | None = None
    severity: Annotated[float, msgspec.Meta(gt=0, le=1_000)] | None = None
    xid: Annotated[int, msgspec.Meta(ge=1, le=999)] | None = None

    @property
    def badness(self) -> float:
        """How bad it is."""
        return SEVERITIES[self.kind] if self.severity is None else self.severity


class FaultsDrawn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Faults that are drawn from the seed, for each era of the calendar.

    Attributes:
        era_days: Days of an era. [days]
        stops: Unexpected stops of an era, by the mix of Llama 3's table 5. [1]
        planned: Planned stops of an era. [1]
        lemon_share: Share of the stops at a node that are at the same one. [1]
        slow_gpus: Slow GPUs of an era; MegaScale saw 0.5 % of machines. [1]
        thermal_caps: GPUs that are too hot. [1]
        power_caps: GPUs that are capped. [1]
        slow_links: Network cards that are slow. [1]
        flow_collisions: Spells of colliding flows. [1]
        data_stalls: Spells in which the input is late. [1]
        checkpoint_storms: Spells in which checkpoints take long. [1]
        preemptions: Times that another job takes the nodes. [1]
        slow_s: Mean length of a spell of slowness, exponential. [s]
        slow_least_s: What it is at least. [s]
        slow_median: Median of how much longer own work takes, lognormal. [1]
        slow_sigma: Standard deviation of its logarithm. [1]
        slow_most: What it is at most. [1]
    """

    era_days: Annotated[int, msgspec.Meta(ge=1, le=366)] = 54
    stops: Whole = 0
    planned: Whole = 0
    lemon_share: Share = 0.0
    slow_gpus: Rate = 0.0
    thermal_caps: Rate = 0.0
    power_caps: Rate = 0.0
    slow_links: Rate = 0.0
    flow_collisions: Rate = 0.0
    data_stalls: Rate = 0.0
    checkpoint_storms: Rate = 0.0
    preemptions: Rate = 0.0
    slow_s: Seconds = 4_320.0
    slow_least_s: Seconds = 600.0
    slow_median: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.085
    slow_sigma: Annotated[float, msgspec.Meta(ge=0, le=2)] = 0.93
    slow_most: Annotated[float, msgspec.Meta(gt=0, le=10)] = 2.0
