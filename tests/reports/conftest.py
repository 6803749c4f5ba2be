"""A small pod by hand: eight GPUs, one of them slow, one stop, some refused rows."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from analysis import Frames
from analysis.attempts import Attempts
from analysis.collective_waits import CollectiveWaits
from analysis.energy import Energy
from analysis.gpus import Gpus
from analysis.incidents import Incidents
from analysis.interrupt_rates import InterruptRates
from analysis.interruptions import Interruptions
from analysis.late_ranks import LateRanks
from analysis.lost_time import LostTime
from analysis.overlap import Overlap
from analysis.runs import Runs
from analysis.stragglers import StragglerRanks, StragglerSteps, StragglerTests
from ingest.tables import (
    IngestedFiles,
    PowerSamples,
    RejectedRows,
    StepTimings,
    Table,
)
from reports._section import Scope
from reports.dollars import Price
from reports.provenance import Provenance

Row = dict[str, Any]
Rows = Mapping[type[Table], list[Row]]
MakeFrames = Callable[[Rows], Frames]
MakePod = Callable[..., dict[type[Table], list[Row]]]

S = 10**9
HOUR = 3600 * S
START = 1_795_000_000 * S  # 2026-11-18 11:06:40 UTC
RUN = "pod-a-main"
HOSTS = ("node-a11", "node-b12")
STEPS = 120
SLOW_RANK = 7


def framed(rows: Rows) -> Frames:
    """Frames of rows; a column that a row leaves out is null."""
    return Frames({table: frame(table, some).lazy() for table, some in rows.items()})


def frame(table: type[Table], rows: list[Row]) -> pl.DataFrame:
    """One table of rows; a column that a row leaves out is null."""
    schema = table.create_empty().schema
    unknown = {key for row in rows for key in row} - set(schema)
    assert not unknown, f"{table.__name__} has no {unknown}"
    columns = {name: [row.get(name) for row in rows] for name in schema}
    return pl.DataFrame(columns, schema=schema, strict=False)


def ledger(run: str = RUN, day: str = "2026-11-18") -> list[Row]:
    """Accounts of 100 GPU-hours, in whole hours: 70 of them productive."""
    hours = {
        "productive": (70, "collectives"),
        "exposed_communication": (9, "collectives"),
        "straggler_wait": (6, "collectives"),
        "restart": (5, "none"),
        "recompute": (4, "collectives"),
        "data_stall": (2, "step_parts"),
        "idle": (1, "collectives"),
        "unattributed": (3, "none"),
    }
    return [
        {
            "run_id": run,
            "attempt": 0,
            "day": day,
            "category": category,
            "basis": basis,
            "gpu_ns": Decimal(count * HOUR),
        }
        for category, (count, basis) in hours.items()
    ]


def steps(run: str) -> list[Row]:
    """Steps of 2 s; the slow rank works 12 % longer in steps 40 to 89."""
    rows = []
    for step in range(STEPS):
        spell = 40 <= step < 90
        for rank in range(8):
            is_slow = spell and rank == SLOW_RANK
            work = int((1.8 + 0.002 * ((rank * 7 + step * 3) % 5)) * S)
            work = work * 112 // 100 if is_slow else work
            duration = int((2.1 if spell else 1.9) * S)
            rows.append(
                {
                    "run_id": run,
                    "attempt": 0,
                    "step": step,
                    "rank": rank,
                    "start_ns": START + step * 2 * S,
                    "duration_ns": duration,
                    "wait_ns": max(0, duration - work),
                    "scope": "rank",
                    "clock": "host",
                    "step_count": 1,
                    "file_id": "f-steps",
                }
            )
    return rows


def overlaps(run: str) -> list[Row]:
    """A trace of 10 s of every rank: 6 s compute, 3 s communication, half hidden."""
    return [
        {
            "run_id": run,
            "attempt": 0,
            "trace_id": f"trace-{rank:02}",
            "rank": rank,
            "device": 0,
            "step": None,
            "start_ns": START,
            "span_ns": 10 * S,
            "busy_ns": 8 * S,
            "compute_ns": 6 * S - rank * S // 10,
            "communication_ns": 3 * S + rank * S // 10,
            "memory_ns": S // 2,
            "overlapped_ns": 3 * S // 2,
            "exposed_communication_ns": 3 * S // 2 + rank * S // 10,
            "exposed_memory_ns": S // 2,
            "idle_ns": 2 * S,
            "overlap_ratio": 1.5 / (3 + rank / 10),
            "linked_ratio": 0.99,
        }
        for rank in range(8)
    ]


def waits(run: str) -> list[Row]:
    """Forty collectives of two groups; the slow rank comes last in most."""
    rows: list[Row] = []
    for number in range(40):
        is_all = number % 2 == 0
        rows.append(
            {
                "run_id": run,
                "attempt": 0,
                "group_id": "dp-all" if is_all else "tp-node-b12",
                "kind": "allreduce" if is_all else "allgather",
                "is_p2p": False,
                "sequence": number,
                "match_method": "sequence",
                "start_ns": START + number * S,
                "bytes_total": 2 ** (20 + number % 8) + number,
                "ranks_seen": 8 if is_all else 4,
                "ranks_expected": 8 if is_all else 4,
                "wait_ns_max": 40_000_000,
                "wait_ns_total": 200_000_000 + number * 1_000_000,
                "late_ns": 30_000_000,
                "transfer_ns": 5_000_000,
                "busbw_gbs": 80.0 + 10 * (number % 8) + number / 10,
                "last_rank": SLOW_RANK,
                "clock_residual_ns": 30_000,
            }
        )
    return rows


def late(run: str) -> list[Row]:
    """What collectives tell of each rank's arrivals."""
    return [
        {
            "run_id": run,
            "attempt": 0,
            "rank": rank,
            "collectives_count": 40,
            "last_count": 33 if rank == SLOW_RANK else 1,
            "expected_count": 5.0,
            "wait_ns": 10**9,
            "late_ns": 990_000_000 if rank == SLOW_RANK else 12_000_000 + rank,
            "p_value": 1e-20 if rank == SLOW_RANK else 0.9,
            "is_late": rank == SLOW_RANK,
        }
        for rank in range(8)
    ]


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
        "incident_id": "incident-1",
        "planned": False,
        "component": "gpu",
        "category": "hardware",
        "cause": "xid 79: GPU has fallen off the bus",
        "last_step_end_ns": START + 6 * HOUR - 600 * S,
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
    return {Attempts: [first, second], Interruptions: [stop], Incidents: [incident]}


def rates(count: int) -> list[Row]:
    """Rates of the cluster at every level, over 1000 node-days."""
    return [
        {
            "cluster": "pod-a",
            "level": level,
            "scope": "cluster",
            "scope_id": "pod-a",
            "category": "all",
            "component": "all",
            "count": number,
            "exposure_ns": Decimal(1000 * 24 * HOUR),
            "exposure_basis": "attempts",
            "mtbf_ns": 1000 * 24 * HOUR // number,
            "mtbf_low_ns": 600 * 24 * HOUR // number,
            "mtbf_high_ns": 2000 * 24 * HOUR // number,
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


def slow(run: str, host: str) -> dict[type[Table], list[Row]]:
    """One GPU found slow, and what the test could have seen."""
    rank = {
        "run_id": run,
        "scope": "gpu",
        "scope_id": f"rank {SLOW_RANK} on {host}",
        "slowdown_ratio": 1.12,
        "q_value": 1e-9,
        "first_step": 40,
        "last_step": 89,
        "steps_late": 50,
        "lost_gpu_ns": Decimal(5 * HOUR),
        "cause": "power_cap",
        "evidence": "power at its limit in 50 of 50 steps",
    }
    test = {
        "run_id": run,
        "ranks_tested": 8,
        "ranks_untested": 0,
        "steps_tested": STEPS,
        "smallest_visible_ratio": 1.021,
        "verdict": "tested",
    }
    step = {
        "run_id": run,
        "attempt": 0,
        "step": 0,
        "slowest_rank": 7,
        "slowest_work_ns": 2 * S,
        "typical_work_ns": 18 * S // 10,
        "ranks_seen": 8,
        "lost_gpu_ns": Decimal(5 * HOUR),
        "jitter_gpu_ns": Decimal(HOUR),
    }
    return {StragglerRanks: [rank], StragglerTests: [test], StragglerSteps: [step]}


def pod(run: str = RUN, host: str = HOSTS[1], count: int = 6) -> dict[type[Table], Any]:
    """Every table of the pod.

    Args:
        run: Name of the run.
        host: Name of the node with the slow GPU.
        count: Interruptions that the rates count.
    """
    known = {
        "run_id": run,
        "cluster": "pod-a",
        "model": "8B dense",
        "gpu_model": "H100-SXM",
        "gpu_count": 8,
        "gpus_per_node": 4,
        "planned_steps": 1200,
        "billing": "allocated",
        "usd_per_gpu_hour": 2.5,
        "price_mode": "rental",
        "has_card": True,
        "start_ns": START,
        "end_ns": START + 12 * HOUR,
    }
    gpus = [
        {
            "run_id": run,
            "attempt": 0,
            "rank": rank,
            "from_ns": START,
            "to_ns": START + 12 * HOUR,
            "host": (HOSTS[0], host)[rank // 4],
            "gpu_uuid": f"GPU-{rank:04}-aaaa-bbbb",
        }
        for rank in range(8)
    ]
    return {
        Runs: [known],
        Gpus: gpus,
        LostTime: ledger(run) + ledger(run, "2026-11-19"),
        StepTimings: steps(run),
        Overlap: overlaps(run),
        CollectiveWaits: waits(run),
        LateRanks: late(run),
        InterruptRates: rates(count),
        **stops(run),
        **power(run, host),
        **files(run),
        **slow(run, host),
    }


def provenance_of(*run_ids: str) -> Provenance:
    """Where a page of these runs comes from."""
    return Provenance(
        run_ids=run_ids,
        lake="lake",
        generated_ns=START + 24 * HOUR,
        version="0.1.0",
        settings={"usd_per_gpu_hour": "2.0", "zone": "UTC"},
        settings_sources={"usd_per_gpu_hour": "default", "zone": "set"},
        thresholds={"straggler_gate_ratio": 0.02},
        analysis_versions={"lost_time": 1},
    )


def prices_of(*run_ids: str, usd: str = "2.5") -> dict[str, Price]:
    """A price for each run, and the fallback."""
    own = {run_id: Price(Decimal(usd), "run card", "rental") for run_id in run_ids}
    return {"": Price(Decimal("2.0"), "default", "rental"), **own}


@pytest.fixture
def make_frames() -> MakeFrames:
    """Builds frames of rows."""
    return framed


@pytest.fixture
def make_pod() -> MakePod:
    """Builds the rows of the pod."""
    return pod


@pytest.fixture
def make_scope() -> Callable[..., Scope]:
    """Builds the scope of a page about runs at 2.5 USD a GPU-hour."""
    return lambda *runs: Scope(prices_of(*runs), provenance_of(*runs))


@pytest.fixture
def scope() -> Scope:
    """The pod's run at 2.5 USD a GPU-hour."""
    return Scope(prices_of(RUN), provenance_of(RUN))
