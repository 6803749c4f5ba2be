"""Kernel logs of the nodes: syslog with offsets, a lost GPU among harmless lines."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from ingest.synthetic.fleet import Gpu
from ingest.synthetic.raw_text import local_time
from ingest.synthetic.run import Attempt
from ingest.synthetic.scenario import MS, SECOND, Scenario

#: Lines that every node writes now and then.
_HARMLESS: Final = (
    "systemd[1]: Started Session {number} of User prolog.",
    "systemd[1]: logrotate.service: Deactivated successfully.",
    "kernel: mlx5_core 0000:41:00.1: Port module event: module 1, Cable plugged",
    "sshd[{number}]: Connection closed by 10.0.0.7 port 40{number} [preauth]",
    "kernel: nvidia-nvlink: Nvlink Core is being initialized, major device number 510",
    "slurmd[2114]: launch task StepId={job}.0 request from UID:1041 GID:1041",
    "systemd[1]: Starting Cleanup of Temporary Directories...",
)

#: How long before a start a node that was lost is back. [ns]
BACK_BEFORE_NS: Final = 40 * SECOND

#: Seconds of uptime of the nodes when the run begins, three days and more. [ns]
_UPTIME_NS: Final = 312_000 * SECOND


def kernel_lines(
    scenario: Scenario, attempts: Sequence[Attempt], gpus: Sequence[Gpu], node: int
) -> Iterator[str]:
    """Yield the lines of one node's log, in the order of time."""
    host = gpus[node * scenario.gpus_per_node].host
    offset = scenario.node_offset_ns(node)
    entries = [*_harmless(scenario, attempts, node)]
    lost = gpus[scenario.failed_rank]
    for attempt, following in pairwise(attempts):
        if attempt.failed is not None and lost.host == host:
            entries = [
                entry
                for entry in entries
                if not attempt.failed < entry[0] < following.start - BACK_BEFORE_NS
            ]
            entries += _loss(attempt, lost, gpus[node * scenario.gpus_per_node :])
            entries += _reboot(following)
    for time_ns, text in sorted(entries):
        stamp = local_time(time_ns + offset, scenario.zone)
        yield f"{stamp.isoformat(timespec='microseconds')} {host} {text}"


def _harmless(
    scenario: Scenario, attempts: Sequence[Attempt], node: int
) -> Iterator[tuple[int, str]]:
    draw = scenario.draws("kernel log", node)
    at, end = attempts[0].start - 300 * SECOND, attempts[-1].end + 60 * SECOND
    while at < end:
        text = draw.choice(_HARMLESS)
        number = draw.randrange(1_000, 10_000)
        yield at, text.format(number=number, job=scenario.job_id)
        at += round(draw.expovariate(1 / 12) * SECOND)


def _loss(
    attempt: Attempt, lost: Gpu, node: Sequence[Gpu]
) -> Iterator[tuple[int, str]]:
    """A GPU falls off the bus; the driver says so twice and asks for a reboot."""
    at = attempt.failed or 0
    bus = lost.pci_address
    since_boot = _UPTIME_NS + at - attempt.start
    xid = f"NVRM: Xid (PCI:{bus})"
    changed = "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot)"
    first = (
        f"NVRM: GPU at PCI:{bus}: {lost.uuid}",
        f"NVRM: GPU Board Serial Number: {lost.serial}",
        f"{xid}: 79, pid=31877, name=python, GPU has fallen off the bus.",
        f"NVRM: GPU {bus}.0: GPU has fallen off the bus.",
        f"{xid}: 154, {changed}",
    )
    for position, text in enumerate(first):
        later = position * 41_000
        yield at + later, f"kernel: {_uptime(since_boot + later)} {text}"
    for position, gpu in enumerate(node[:3]):
        later = 11 * SECOND + position * 2 * MS
        text = f"NVRM: Xid (PCI:{gpu.pci_address}): 45, pid=3187{position}, name=python"
        entry = f"kernel: {_uptime(since_boot + later)} {text}, Ch 00000008"
        yield at + later, entry
    yield at + 12 * SECOND, "slurmd[2114]: error: health check failed, node set to DOWN"


def _reboot(following: Attempt) -> Iterator[tuple[int, str]]:
    """The node is back before the next attempt starts."""
    boot = following.start - BACK_BEFORE_NS
    driver = "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.148.08"
    for seconds, text in ((0, "Linux version 6.8.0-60-generic"), (9, driver)):
        later = seconds * SECOND
        yield boot + later, f"kernel: {_uptime(later)} {text}"
    yield boot + 21 * SECOND, "slurmd[2044]: slurmd version 24.11.5 started"


def _uptime(time_ns: int) -> str:
    return f"[{time_ns // SECOND:5}.{time_ns % SECOND // 1_000:06}]"
