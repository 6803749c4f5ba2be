"""Kernel logs of a generated cluster: Xids and restarts among harmless lines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import polars as pl

from ingest.synthetic._history_causes import XID_TEXTS
from ingest.synthetic.cluster._draws import draws
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.outages import outages
from ingest.times import SECOND_NS

#: Nodes whose lines are made at once.
_NODES: Final = 256

#: Mean time between two harmless lines of a node. [s]
HARMLESS_S: Final = 600.0

#: Mean time between two errors of a user's code on a node: 3 in 1,000 node-days. [s]
USER_ERROR_S: Final = 86_400 / 0.003

#: Lines that every node writes now and then.
_HARMLESS: Final = (
    "systemd[1]: Started Session 4121 of User prolog.",
    "systemd[1]: logrotate.service: Deactivated successfully.",
    "kernel: mlx5_core 0000:41:00.1: Port module event: module 1, Cable plugged",
    "sshd[2871]: Connection closed by 10.0.0.7 port 40287 [preauth]",
    "kernel: nvidia-nvlink: Nvlink Core is being initialized, major device number 510",
    "slurmd[2114]: launch task StepId=70001.0 request from UID:1041 GID:1041",
    "systemd[1]: Starting Cleanup of Temporary Directories...",
)

#: What the driver prints where a user's code is at fault.
_USER_ERRORS: Final = (
    "13, pid=31877, name=python, Graphics SM Warp Exception: Out Of Range Address",
    "31, pid=31877, name=python, Ch 00000008, MMU Fault: ENGINE GRAPHICS",
    "43, pid=31877, name=python, Ch 00000008",
)

_DRIVER: Final = "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.148.08"

#: How long a node had run when the run began. [ns]
_UPTIME_NS: Final = 312_000 * SECOND_NS

Line = tuple[int, int, str]


def write_logs(folder: Path, cluster: Cluster, span_ns: tuple[int, int]) -> int:
    """Write a log for each node of a time; return the lines. [ns, 1]"""
    folder.mkdir(parents=True, exist_ok=True)
    told = pl.DataFrame(
        [*_lines(cluster)],
        schema={"time_ns": pl.Int64, "node": pl.Int64, "text": pl.String},
        orient="row",
    )
    written = 0
    for first in range(0, len(cluster.fleet.hosts), _NODES):
        last = min(first + _NODES, len(cluster.fleet.hosts))
        some = told.filter(
            pl.col("node").is_between(first, last - 1),
            pl.col("time_ns").is_between(*span_ns, closed="left"),
        )
        quiet = _quiet(cluster, (first, last), span_ns)
        lines = _seen(cluster, pl.concat([some, *quiet])).sort(
            "node", "time_ns", "text"
        )
        written += _write(folder, cluster, lines)
    return written


def _write(folder: Path, cluster: Cluster, lines: pl.DataFrame) -> int:
    """Write the lines of some nodes, with stamps, each to its own file."""
    stamp = pl.from_epoch(pl.col("time_ns") // 1_000, "us")
    hosts = pl.Series(cluster.fleet.hosts).gather(lines["node"])
    whole = lines.select(
        "node",
        line=pl.concat_str(
            stamp.dt.strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00"),
            pl.lit(" "),
            pl.lit(hosts),
            pl.lit(" "),
            "text",
        ),
    )
    for (node,), part in whole.partition_by("node", as_dict=True).items():
        path = folder / f"{cluster.fleet.hosts[int(node)]}.kern.log"
        part.select("line").write_csv(path, include_header=False, quote_style="never")
    return whole.height


def _quiet(
    cluster: Cluster, nodes: tuple[int, int], span_ns: tuple[int, int]
) -> Iterator[pl.DataFrame]:
    """Yield lines that come and go: harmless ones, and those of users' errors."""
    seed = cluster.scenario.seed
    draw = draws(seed, "kernel log", nodes[0])
    bus = cluster.fleet.gpus["pci_address"][0]
    wrong = [f"kernel: NVRM: Xid (PCI:{bus}): {text}" for text in _USER_ERRORS]
    for texts, gap_s in ((_HARMLESS, HARMLESS_S), (wrong, USER_ERROR_S)):
        length_s = (span_ns[1] - span_ns[0]) / SECOND_NS
        count = int(draw.poisson((nodes[1] - nodes[0]) * length_s / gap_s))
        yield pl.DataFrame(
            {
                "time_ns": draw.integers(*span_ns, size=count),
                "node": draw.integers(*nodes, size=count),
                "text": pl.Series(texts).gather(draw.integers(len(texts), size=count)),
            }
        )


def _seen(cluster: Cluster, lines: pl.DataFrame) -> pl.DataFrame:
    """Return the lines without those of nodes that are away."""
    for one in outages(cluster.attempts):
        away = pl.col("time_ns").is_between(one.down_ns, one.boot_ns - 1)
        lines = lines.filter(~((pl.col("node") == one.host) & away))
    return lines


def _lines(cluster: Cluster) -> Iterator[Line]:
    """Yield what nodes print of the stops, and when they are restarted."""
    for attempt in cluster.attempts:
        stop = attempt.stop
        if stop is None or stop.xid is None or stop.host is None:
            continue
        rank = stop.ranks[0] if stop.ranks else None
        if rank is not None:
            yield from _xid(cluster, stop.from_ns, stop.host, rank, stop.xid)
        if not attempt.is_cut:
            down = "slurmd[2114]: error: health check failed, node set to DOWN"
            yield attempt.end_ns - SECOND_NS, stop.host, down
    for one in outages(cluster.attempts):
        for seconds, text in ((0, "Linux version 6.8.0-60-generic"), (9, _DRIVER)):
            at = seconds * SECOND_NS
            yield one.boot_ns + at, one.host, f"kernel: {_uptime(at)} {text}"


def _xid(
    cluster: Cluster, time_ns: int, node: int, rank: int, code: int
) -> Iterator[Line]:
    """Yield what the driver prints of a GPU: its identity, then the code."""
    gpu = cluster.fleet.gpus.row(rank, named=True)
    bus = f"PCI:{gpu['pci_address']}"
    since = _UPTIME_NS + time_ns - cluster.scenario.begun_ns
    text = XID_TEXTS.get(code, "pid=31877, name=python")
    lines = (
        f"NVRM: GPU at {bus}: {gpu['gpu_uuid']}",
        f"NVRM: GPU Board Serial Number: {gpu['serial']}",
        f"NVRM: Xid ({bus}): {code}, {text}",
    )
    for number, line in enumerate(lines):
        later = number * 41_000
        yield time_ns + later, node, f"kernel: {_uptime(since + later)} {line}"


def _uptime(time_ns: int) -> str:
    return f"[{time_ns // SECOND_NS:5}.{time_ns % SECOND_NS // 1_000:06}]"
