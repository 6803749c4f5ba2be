"""An incident that stopped a run, row by row."""

from typing import Any

from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.incidents import IncidentEvents, Incidents
from analysis.interruptions import Interruptions
from analysis.loss_phases import LossPhases
from ingest.tables import Failures, IngestedFiles
from tests.reports.builder import HOUR, RUN, START, Row, S

UUID = "GPU-8005cff4-776a-43cd-adb7-163fd367af01"
MESSAGE = "NVRM: Xid (PCI:0000:5d:00): 79, pid=7, GPU has fallen off the bus."
LINE = f"2026-11-18T12:06:41+01:00 node-b12 kernel: {MESSAGE}"
BROKE = START + HOUR
DAYS = 10.0


def tables(host: str = "node-b12", message: str = MESSAGE) -> dict[Any, list[Row]]:
    """A GPU of four is lost; its run goes on 40 min later and repeats ten steps.

    last step ends | first sign +30 s | attempt ends +90 s | next starts +30 min |
    first new step +40 min; GPUs are held until the attempt's end and from its start.
    """
    stopped = {
        "run_id": RUN,
        "attempt": 0,
        "stop": 0,
        "incident_id": "abcd1234",
        "planned": False,
        "category": "hardware",
        "cause": "xid 79",
        "lost_steps": 10,
        "last_step_end_ns": BROKE - 30 * S,
        "detected_ns": BROKE,
        "decided_ns": BROKE + 60 * S,
        "started_ns": BROKE + 1770 * S,
        "first_step_ns": BROKE + 2370 * S,
    }
    spell = {"cluster": "pod-a", "gpu_key": UUID, "code": "79", "source": "xid"}
    told = {"name": "GPU has fallen off the bus", "severity": "fatal"}
    event = spell | told | {"host": host, "first_ns": BROKE, "last_ns": BROKE}
    incident = {
        "cluster": "pod-a",
        "host": host,
        "gpu_key": UUID,
        "role": "root",
        "root_source": "xid",
        "root_code": "79",
        "category": "hardware",
        "incident_id": "abcd1234",
        "lines": 1,
        "events": 1,
        "host_count": 1,
        "first_ns": BROKE,
        "last_ns": BROKE,
        "action": "reboot_node",
    }
    elsewhere = {"incident_id": "beef", "host": "node-of-another"}
    line = spell | told | {"host": host, "time_ns": BROKE, "message": message}
    line |= {"file_id": "f", "time_quality": "exact", "line_count": 1, "occurrence": 0}
    line |= {"inferred": False, "action": "reboot_node"}
    # 4 GPUs for 30 s, 60 s, none while queueing, 600 s; one GPU-hour done again
    ends = {"hang": 30, "detect": 90, "decide": 100, "requeue": 1800, "start": 2400}
    paid = {"hang": 120, "detect": 240, "start": 2400, "recompute": 3600}
    starts = dict(zip(ends, [0, *ends.values()], strict=False))
    phases = [
        {"run_id": RUN, "attempt": 0, "stop": 0, "phase": phase}
        | {"duration_ns": (ends[phase] - starts[phase]) * S if phase in ends else None}
        | {"gpu_ns": paid.get(phase, 0) * S, "account": "restart"}
        for phase in (*ends, "recompute")
    ]
    others = phases[0] | {"phase": "second_order", "account": None}
    return {
        Incidents: [incident | told, incident | told | elsewhere],
        IncidentEvents: [event | {"incident_id": "abcd1234", "role": "root"}],
        Interruptions: [stopped],
        Attempts: [{"run_id": RUN, "attempt": 0, "gpu_count": 4, "job_id": "48217"}],
        LossPhases: [*phases, others],
        Gpus: [
            {"run_id": RUN, "attempt": 0, "rank": 3, "host": host, "gpu_uuid": UUID}
            | {"pci_address": "0000:5d:00", "from_ns": START, "to_ns": BROKE}
        ],
        Failures: [line, line | {"host": "node-of-another", "message": "NVRM: other"}],
        IngestedFiles: [
            {"file_id": "f", "path": "/srv/secret/kern.log", "sha256": "5e" * 32}
            | {"source": "kernel-log", "bytes": 6375}
        ],
    }
