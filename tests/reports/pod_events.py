"""The pod's events: attempts, a stop, failure rates, power and files."""

from decimal import Decimal

from analysis.attempts import Attempts
from analysis.energy import Energy
from analysis.incidents import Incidents
from analysis.interruptions import Interruptions
from analysis.loss_phases import LossPhases
from ingest.tables import IngestedFiles, PowerSamples, RejectedRows, Table
from tests.reports.builder import HOSTS, HOUR, SLOW_RANK, START, Row, S


def stops(run: str) -> dict[type[Table], list[Row]]:
    """Two attempts: the first stopped when a GPU fell off the bus."""
    first = {
        "run_id": run,
        "attempt": 0,
        "basis": "jobs",
        "start_ns": START,
        "end_ns": START + 6 * HOUR,
        "is_running": False,
        "first_step": 0,
        "last_step": 79,
        "gpu_count": 8,
        "hosts": ",".join(HOSTS),
    }
    second = first | {
        "attempt": 1,
        "start_ns": START + 6 * HOUR + 900 * S,
        "end_ns": START + 12 * HOUR,
        "first_step": 60,
        "last_step": 119,
    }
    stop = {
        "run_id": run,
        "attempt": 0,
        "stop": 0,
        "kind": "end",
        "incident_id": "incident-1",
        "planned": False,
        "component": "gpu",
        "category": "hardware",
        "cause": "xid 79: GPU has fallen off the bus",
        "last_step_end_ns": START + 6 * HOUR - 600 * S,
        "detected_ns": START + 6 * HOUR - 540 * S,
        "decided_ns": START + 6 * HOUR,
        "requeued_ns": START + 6 * HOUR + 60 * S,
        "started_ns": START + 6 * HOUR + 900 * S,
        "first_step_ns": START + 6 * HOUR + 1200 * S,
        "lost_steps": 20,
    }
    incident = {
        "incident_id": "incident-1",
        "cluster": "pod-a",
        "host": HOSTS[1],
        "gpu_key": "0000:5d:00",
        "root_source": "xid",
        "root_code": "79",
        "role": "root",
        "lines": 4,
        "events": 2,
    }
    return {
        Attempts: [first, second],
        Interruptions: [stop],
        Incidents: [incident],
        LossPhases: [_phase(stop, *phase) for phase in _PHASES],
    }


#: Phase, its start and its length, counted from the end of the attempt [s], and the
#: GPUs that were paid for meanwhile.
_PHASES = (
    ("hang", -600, 60, 8),
    ("detect", -540, 540, 8),
    ("decide", 0, 60, 0),
    ("requeue", 60, 840, 0),
    ("start", 900, 300, 8),
    ("recompute", -1_200, 600, 8),
)


def _phase(stop: Row, phase: str, start: int, length: int, gpus: int) -> Row:
    return {
        "run_id": stop["run_id"],
        "attempt": 0,
        "stop": 0,
        "planned": False,
        "phase": phase,
        "from_ns": stop["decided_ns"] + start * S,
        "to_ns": stop["decided_ns"] + (start + length) * S,
        "duration_ns": length * S,
        "gpu_ns": Decimal(gpus * length * S),
        "account": "recompute" if phase == "recompute" else "restart",
    }


def rates(run: str, count: int) -> list[Row]:
    """Rates of the cluster and of the run at every level, over 1000 node-days."""
    return [
        {
            "cluster": "pod-a",
            "run_id": run if scope == "run" else None,
            "level": level,
            "scope": scope,
            "scope_id": run if scope == "run" else "pod-a",
            "outside_count": 0,
            "category": "all",
            "component": "all",
            "count": number,
            "exposure_ns": Decimal(1000 * 24 * HOUR),
            "exposure_basis": "attempts",
            "mtbf_ns": Decimal(1000 * 24 * HOUR // number),
            "mtbf_low_ns": Decimal(600 * 24 * HOUR // number),
            "mtbf_high_ns": Decimal(2000 * 24 * HOUR // number),
            "per_1000_node_days": float(number),
            "per_1000_node_days_low": number * 0.5,
            "per_1000_node_days_high": number * 1.7,
        }
        for level, number in (
            ("line", 4 * count),
            ("event", 2 * count),
            ("incident", count),
            ("interruption", count),
        )
        for scope in ("cluster", "run")
    ]


def power(run: str, host: str) -> dict[type[Table], list[Row]]:
    """Energy of eight GPUs, and a sample of each every minute for two hours."""
    uuids = [f"GPU-{rank:04}-aaaa-bbbb" for rank in range(8)]
    energy = [
        {
            "run_id": run,
            "cluster": "pod-a",
            "host": (HOSTS[0], host)[rank // 4],
            "gpu_uuid": uuids[rank],
            "from_ns": START,
            "to_ns": START + 12 * HOUR,
            "energy_j": 25e6 - rank * 4e5,
            "method": "counter",
            "coverage_ratio": 0.8 if rank == SLOW_RANK else 0.99,
            "mean_w": 580.0 - rank,
            "peak_w": 702.0,
            "samples_count": 120,
            "quality": "gap,stale sensor" if rank == SLOW_RANK else None,
        }
        for rank in range(8)
    ]
    samples = [
        {
            "file_id": "f-power",
            "cluster": "pod-a",
            "host": (HOSTS[0], host)[rank // 4],
            "gpu_uuid": uuids[rank],
            "level": "gpu_board",
            "time_ns": START + minute * 60 * S,
            "time_quality": "exact",
            "power_instant_w": 560.0 + 10 * ((minute * 7 + rank * 3) % 13),
        }
        for minute in range(120)
        for rank in range(8)
    ]
    return {Energy: energy, PowerSamples: samples}


def files(run: str | None) -> dict[type[Table], list[Row]]:
    """Three files that were read, one of which no source recognizes."""
    found = [
        ("f-steps", "logs/steps.jsonl", "step_table", 960, 2),
        ("f-power", "logs/power.csv", "nvidia_smi", 960, 0),
        ("f-notes", "logs/notes.txt", "unrecognized", 0, 0),
    ]
    ingested = [
        {
            "file_id": file_id,
            "path": path,
            "sha256": "0" * 64,
            "source": source,
            "reader_version": 1,
            "bytes": 123_456,
            "rows_read": read + refused,
            "rows_accepted": read,
            "rows_rejected": refused,
            "rows_retired": 0,
            "repairs": 0,
            "zone_basis": "assumed" if source == "nvidia_smi" else "none",
            "run_id": run,
            "run_id_basis": "folder",
            "first_ns": START if read else None,
            "last_ns": START + 2 * HOUR if read else None,
            "ingested_ns": START + 20 * HOUR,
        }
        for file_id, path, source, read, refused in found
    ]
    rejected = [
        {
            "file_id": "f-steps",
            "table_name": "step_timings",
            "place": f"line {line}",
            "rule": "duration_ns|min",
            "raw": "{}",
        }
        for line in (7, 9)
    ]
    return {IngestedFiles: ingested, RejectedRows: rejected}
