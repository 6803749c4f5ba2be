"""Three days of 16 ranks on two nodes, as logs that grow: a row every 20 minutes."""

import csv
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

DAY_NS = 86_400 * 10**9
MINUTE_NS = 60 * 10**9

#: 2026-03-02, 00:00 UTC.
FIRST_NS = 20_514 * DAY_NS
DAYS = 3
ROWS = 72 * DAYS

CARD = """run_id = "three-days"
cluster = "pod-a"
model = "3.2B dense"
zone = "UTC"
[hardware]
gpu = "H100-SXM"
gpus = 16
gpus_per_node = 8
[hosts]
map = "hosts.csv"
"""

SMI = (
    "timestamp, index, uuid, pci.bus_id, power.draw.average [W],"
    " power.draw.instant [W], enforced.power.limit [W], temperature.gpu,"
    " clocks.current.sm [MHz], utilization.gpu [%]\n"
)

XID = (
    "kernel: NVRM: Xid (PCI:0000:4c:00): 79, pid=4711, name=python,"
    " GPU has fallen off the bus."
)


def moment(row: int, offset_s: int = 0) -> datetime:
    """When a row was written, five minutes past midnight at first."""
    time_ns = FIRST_NS + (5 + 20 * row) * MINUTE_NS
    return datetime.fromtimestamp(time_ns // 10**9 + offset_s, UTC)


def write_run(folder: Path, hosts: Path) -> Path:
    """Write step logs, power, kernel logs, a run card and the map of hosts."""
    folder.mkdir()
    shutil.copy(hosts, folder / "hosts.csv")
    (folder / "run.toml").write_text(CARD, encoding="utf-8")
    with hosts.open(encoding="utf-8", newline="") as file:
        gpus = list(csv.DictReader(file))[:16]
    for node in sorted({gpu["host"] for gpu in gpus}):
        mine = [gpu for gpu in gpus if gpu["host"] == node]
        _write_steps(folder / f"{node}.steps.jsonl", mine)
        _write_power(folder / f"{node}.smi.csv", mine)
        _write_kernel_log(folder / f"{node}.kern.log", node)
    return folder


def _write_steps(path: Path, gpus: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in range(ROWS):
            start = int(moment(row).timestamp()) * 10**9
            for gpu in gpus:
                rank = int(gpu["rank"])
                work = 800_000_000 + (row * 37 + rank * 101) % 997 * 1_000
                work += 150_000_000 if rank == 5 and row > 100 else 0
                said = {
                    "run_id": "three-days",
                    "attempt": 0,
                    "step": row,
                    "rank": rank,
                    "start_ns": start,
                    "duration_ns": 1_000_000_000,
                    "compute_ns": work,
                    "wait_ns": 1_000_000_000 - work,
                }
                file.write(f"{json.dumps(said)}\n")


def _write_power(path: Path, gpus: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(SMI)
        for row in range(ROWS):
            stamp = moment(row, 30).strftime("%Y/%m/%d %H:%M:%S.000")
            for index, gpu in enumerate(gpus):
                watts = 600 + (row * 13 + index * 7) % 50
                file.write(
                    f"{stamp}, {index}, {gpu['gpu_uuid']}, 0000{gpu['pci_address']},"
                    f" {watts}.50 W, {watts}.00 W, 700.00 W, 55, 1755 MHz, 98 %\n"
                )


def _write_kernel_log(path: Path, node: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in range(ROWS):
            stamp = moment(row, 45).isoformat()
            said = XID if row % 50 == 20 else "systemd[1]: Starting Cleanup..."
            file.write(f"{stamp} {node} {said}\n")
