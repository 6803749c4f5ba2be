"""What stops a run of 16,384 GPUs, and how often: Llama 3's count of 54 days."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

#: How long ranks wait in a collective before NCCL's watchdog gives up: the default of
#: PyTorch. Nothing tells of such a stop before. [s]
WATCHDOG_S: Final = 600


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause of stops.

    Attributes:
        name: Component, in the words of the paper.
        category: Category, in the words of the paper.
        count: Stops of the paper's 54 days. [1]
        component: What the reader of lists of interruptions takes the component for.
        on_node: Whether one node is at fault.
        xid: Code that the driver prints; None where it prints none.
        hang_s: How long the run stands still before anything tells of it. [s]
    """

    name: str
    category: str
    count: int
    component: str
    on_node: bool = True
    xid: int | None = None
    hang_s: int = 0


#: Causes of the 419 unexpected stops of arXiv 2407.21783, table 5. Counts, names and
#: categories are the paper's; codes and hangs are this scenario's.
TABLE_5: Final = (
    Cause("Faulty GPU", "GPU", 148, "gpu", xid=79),
    Cause("GPU HBM3 Memory", "GPU", 72, "gpu_memory", xid=95),
    Cause("Software Bug", "Dependency", 54, "software", on_node=False),
    Cause(
        "Network Switch/Cable",
        "Network",
        35,
        "network",
        on_node=False,
        hang_s=WATCHDOG_S,
    ),
    Cause("Host Maintenance", "Unplanned Maintenance", 32, "maintenance"),
    Cause("GPU SRAM Memory", "GPU", 19, "gpu_memory", xid=48),
    Cause("GPU System Processor", "GPU", 17, "gpu", xid=119),
    Cause("NIC", "Host", 7, "nic"),
    Cause(
        "NCCL Watchdog Timeouts",
        "Unknown",
        7,
        "unknown",
        on_node=False,
        hang_s=WATCHDOG_S,
    ),
    Cause("Silent Data Corruption", "GPU", 6, "gpu"),
    Cause("GPU Thermal Interface + Sensor", "GPU", 6, "gpu"),
    Cause("SSD", "Host", 3, "disk"),
    Cause("Power Supply", "Host", 3, "power"),
    Cause("Server Chassis", "Host", 2, "host"),
    Cause("IO Expansion Board", "Host", 2, "host"),
    Cause("Dependency", "Dependency", 2, "software", on_node=False),
    Cause("CPU", "Host", 2, "cpu"),
    Cause("System Memory", "Host", 2, "memory"),
)

#: Unexpected stops of the table together, and the planned ones beside it. [1]
UNEXPECTED: Final = sum(cause.count for cause in TABLE_5)
PLANNED: Final = 47

#: A stop that was meant: the paper names upgrades of firmware, and updates of the
#: configuration and of the data.
UPGRADE: Final = Cause("Firmware upgrade", "Planned", 0, "host", on_node=False)

#: What the driver prints behind a code.
XID_TEXTS: Final[Mapping[int, str]] = {
    48: "pid=31877, name=python, DBE (double bit error) ECC Error",
    79: "pid=31877, name=python, GPU has fallen off the bus.",
    95: "pid=31877, name=python, Uncontained ECC error",
    119: "pid=31877, name=python, Timeout waiting for RPC from GSP0!",
}
