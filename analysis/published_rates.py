"""Failure rates that others published, to stand beside our own."""

from dataclasses import dataclass
from typing import Final, NamedTuple


@dataclass(frozen=True, slots=True)
class PublishedRate:
    """A published rate per 1000 node-days.

    Attributes:
        label: Who, and on what.
        rate: Failures per 1000 node-days.
        low: Lower end of the exact 95 % interval; None where counts are not published.
        high: Upper end.
        counts: What was counted.
        source: Where it was published.
        count: Failures counted; None where it is not published.
        node_days: Node-days observed; None where they are not published.
        level: What of ours counts the same: incidents or interruptions.
        category: Causes of ours that count the same, joined by +; `all` for every one.
    """

    label: str
    rate: float
    low: float | None
    high: float | None
    counts: str
    source: str
    count: int | None
    node_days: int | None
    level: str
    category: str


class PublishedMtbf(NamedTuple):
    """A published mean time to failure of a job of a size.

    Attributes:
        gpus: GPUs of the job.
        hours: Mean time. [h]
        basis: Whether it was measured, or projected from the rate of nodes.
        source: Where it was published.
    """

    gpus: int
    hours: float
    basis: str
    source: str


_RSC: Final = "arXiv 2410.21680"

#: In the order of their rate. Meta counts jobs that ended by NODE_FAIL or after a
#: critical check, of GPUs, hosts and links alike: interruptions laid to hardware or
#: network. InfiniteHBD counts faults of nodes, whatever ran on them: incidents. Llama 3
#: counts unplanned stops of one job.
PUBLISHED: Final = (
    PublishedRate(
        label="Meta RSC-1, A100",
        rate=6.50,
        low=None,
        high=None,
        counts="node failures of jobs above 128 GPUs",
        source=_RSC,
        count=None,
        node_days=None,
        level="interruption",
        category="hardware+network",
    ),
    PublishedRate(
        label="InfiniteHBD trace",
        rate=4.20,
        low=3.86,
        high=4.55,
        counts="node faults, 584 in 139 200 node-days",
        source="InfiniteHBD, SIGCOMM 2025",
        count=584,
        node_days=400 * 348,
        level="incident",
        category="all",
    ),
    PublishedRate(
        label="Llama 3, H100",
        rate=3.79,
        low=3.44,
        high=4.17,
        counts="job interruptions, 419 in 54 days of 2048 nodes",
        source="arXiv 2407.21783",
        count=419,
        node_days=2048 * 54,
        level="interruption",
        category="all",
    ),
    PublishedRate(
        label="Meta RSC-2, A100",
        rate=2.34,
        low=None,
        high=None,
        counts="node failures of jobs above 128 GPUs",
        source=_RSC,
        count=None,
        node_days=None,
        level="interruption",
        category="hardware+network",
    ),
)

#: Mean times to failure of RSC-1 by size (its figure 7 and its text). The measured one
#: at 1024 GPUs does not follow from the rate of nodes, which gives 28.8 h there.
PUBLISHED_MTBF: Final = (
    PublishedMtbf(8, 47.7 * 24, "measured", _RSC),
    PublishedMtbf(1024, 7.9, "measured", _RSC),
    PublishedMtbf(16_384, 1.8, "projected", _RSC),
    PublishedMtbf(131_072, 0.23, "projected", _RSC),
)

#: Unplanned interruptions of Llama 3 by component and category, as table 5 of arXiv
#: 2407.21783 prints them: component, category, count and percentage. The counts sum
#: to 419 and the percentages to 94.9: 148 of 419 is 35.3 %, where 30.1 is printed.
LLAMA_3_CAUSES: Final = (
    ("Faulty GPU", "GPU", 148, 30.1),
    ("GPU HBM3 Memory", "GPU", 72, 17.2),
    ("Software Bug", "Dependency", 54, 12.9),
    ("Network Switch/Cable", "Network", 35, 8.4),
    ("Host Maintenance", "Unplanned Maintenance", 32, 7.6),
    ("GPU SRAM Memory", "GPU", 19, 4.5),
    ("GPU System Processor", "GPU", 17, 4.1),
    ("NIC", "Host", 7, 1.7),
    ("NCCL Watchdog Timeouts", "Unknown", 7, 1.7),
    ("Silent Data Corruption", "GPU", 6, 1.4),
    ("GPU Thermal Interface + Sensor", "GPU", 6, 1.4),
    ("SSD", "Host", 3, 0.7),
    ("Power Supply", "Host", 3, 0.7),
    ("Server Chassis", "Host", 2, 0.5),
    ("IO Expansion Board", "Host", 2, 0.5),
    ("Dependency", "Dependency", 2, 0.5),
    ("CPU", "Host", 2, 0.5),
    ("System Memory", "Host", 2, 0.5),
)

#: The same by our categories: a network card is network, as is a switch or a cable, and
#: watchdog timeouts, which are a symptom, are unattributed.
LLAMA_3_AS_OURS: Final = {
    "hardware": 282,
    "software": 56,
    "network": 42,
    "maintenance": 32,
    "unattributed": 7,
}
