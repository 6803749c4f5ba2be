"""One line of the driver has the same GPU and the same switch, whoever carries it."""

import json

import pytest

from ingest.sources import (
    Source,
    dmesg_json,
    gpud,
    journald,
    kernel_log,
    kubernetes_events,
    nvsentinel,
)
from tests.ingest.failure_samples import read_bytes

XID = "NVRM: Xid (PCI:0000:19:00): 95, pid=1, name=python, Uncontained ECC error"
SXID = "nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 48 LTSSM Fault Up"


def carried(source: Source, line: str) -> bytes:
    """Return a document of a source that holds a line of the kernel."""
    name = "sxid" if "SXid" in line else "xid"
    documents: dict[str, object] = {
        "dmesg-json": {"dmesg": [{"pri": 3, "time": 12.5, "msg": line}]},
        "journald": {
            "__REALTIME_TIMESTAMP": "1772445600000000",
            "_TRANSPORT": "kernel",
            "MESSAGE": line,
        },
        "kubernetes-events": {
            "type": "Warning",
            "reason": "XidError",
            "message": line,
            "involvedObject": {"kind": "Node", "name": "n1"},
        },
        "gpud": [
            {
                "component": f"accelerator-nvidia-error-{name}",
                "events": [{"name": f"error_{name}", "message": line}],
            }
        ],
        "nvsentinel": {
            "agent": "syslog-health-monitor",
            "checkName": f"SysLogs{name.upper()}Error",
            "isHealthy": False,
            "message": line,
            "errorCode": ["20034" if name == "sxid" else "95"],
            "generatedTimestamp": {"seconds": 1772445600},
        },
    }
    told = documents.get(source.name)
    return f"[ 12.5] {line}\n".encode() if told is None else json.dumps(told).encode()


@pytest.mark.parametrize(
    "source",
    [
        one.SOURCE
        for one in (
            kernel_log,
            journald,
            dmesg_json,
            kubernetes_events,
            gpud,
            nvsentinel,
        )
    ],
    ids=lambda source: source.name,
)
def test_a_line_has_one_gpu_and_one_switch(source: Source) -> None:
    for line, expected in (
        (XID, ("xid", "95", "0000:19:00", None)),
        (SXID, ("sxid", "20034", None, "switch 0000:06:00 link 48")),
    ):
        found, refused = read_bytes(source, carried(source, line))
        assert not refused
        names = ("source", "code", "gpu_key", "part")
        assert [tuple(row[name] for name in names) for row in found] == [expected]
