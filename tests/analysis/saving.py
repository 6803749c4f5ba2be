"""Runs that save, by hand. Times are seconds after START."""

from typing import Any

import polars as pl

from analysis._analysis import Frames
from analysis.attempts import Attempts
from analysis.checkpoint_evidence import CheckpointEvidence, find_evidence
from analysis.interrupt_rates import InterruptRates
from analysis.interruptions import Interruptions
from analysis.runs import Runs
from analysis.spare_plans import SparePlans
from ingest.tables import Checkpoints, RunCards, StepTimings, Table
from ingest.times import SECOND_NS

Row = dict[str, Any]

START = 1_772_442_000 * SECOND_NS
S = SECOND_NS


def frame(table: type[Table], rows: list[Row]) -> pl.DataFrame:
    schema = table.create_empty().schema
    unknown = {name for row in rows for name in row} - set(schema)
    assert not unknown, unknown
    columns = {name: [row.get(name) for row in rows] for name in schema}
    return pl.DataFrame(columns, schema=schema, strict=False)


def save(at: float, step: int | None, **other: Any) -> Row:
    """A save of the run, seen by no rank in particular."""
    row = {"file_id": "f", "run_id": "r", "attempt": 0, "kind": "save", "step": step}
    return row | {"start_ns": START + round(at * S)} | other


def step(number: int, at: float, stall: float = 0, rank: int = 0, **other: Any) -> Row:
    """A step of 10 s and what it stood still for a save."""
    row = {"file_id": "f", "run_id": "r", "attempt": 0, "step": number, "rank": rank}
    times = {
        "start_ns": START + round(at * S),
        "duration_ns": 10 * S + round(stall * S),
        "checkpoint_ns": round(stall * S),
    }
    return row | times | {"clock": "host", "scope": "rank", "step_count": 1} | other


def attempt(number: int, start: float, end: float, **other: Any) -> Row:
    times = {"start_ns": START + round(start * S), "end_ns": START + round(end * S)}
    row = {"run_id": "r", "attempt": number, "cluster": "c", "basis": "jobs"}
    return row | times | {"is_running": False, "gpu_count": 16, "hosts": "a,b"} | other


def stop(number: int, last: float, start: float, first: float, **other: Any) -> Row:
    """An unplanned stop: last step's end, next start, first new step."""
    times = {
        "last_step_end_ns": START + round(last * S),
        "decided_ns": START + round(last * S),
        "started_ns": START + round(start * S),
        "first_step_ns": START + round(first * S),
    }
    row = {"run_id": "r", "attempt": number, "planned": False, "category": "hardware"}
    return row | times | other


def rate(count: int, mean: float, low: float, high: float) -> Row:
    """The run's own rate of interruptions, in seconds between them."""
    return {
        "cluster": "c",
        "run_id": "r",
        "level": "interruption",
        "scope": "run",
        "scope_id": "r",
        "category": "all",
        "component": "all",
        "count": count,
        "mtbf_ns": mean * S,
        "mtbf_low_ns": low * S,
        "mtbf_high_ns": high * S,
        "exposure_ns": count * mean * S,
        "node_time_ns": 2 * count * mean * S,
    }


def frames_of(**tables: list[Row]) -> Frames:
    """Frames of a run with two attempts on two nodes of 8 GPUs."""
    known: dict[type[Table], list[Row]] = {
        Checkpoints: tables.get("saves", []),
        StepTimings: tables.get("steps", []),
        Attempts: tables.get("attempts", [attempt(0, 0, 1000), attempt(1, 1100, 2000)]),
        Runs: [{"run_id": "r", "cluster": "c", "gpu_count": 16, "gpus_per_node": 8}],
        SparePlans: tables.get("spares", []),
        RunCards: [
            {"file_id": "c", "run_id": "r"} | one for one in tables.get("card", [])
        ],
        Interruptions: tables.get("stops", []),
        InterruptRates: tables.get("rates", []),
    }
    return Frames({table: frame(table, rows).lazy() for table, rows in known.items()})


def evidence_of(**tables: list[Row]) -> Row:
    """The evidence of the run, checked against its table."""
    found = CheckpointEvidence.validate(find_evidence(frames_of(**tables)))
    assert found.height == 1
    return found.row(0, named=True)


def evidence(**other: Any) -> pl.DataFrame:
    """A run by its evidence: M 10 000 s, w 50 s, R 300 s, D 100 s, hourly saves."""
    row = {
        "run_id": "r",
        "gpu_count": 16,
        "node_count": 2.0,
        "step_ns": 10 * S,
        "save_count": 9,
        "elsewhere_save_count": 0,
        "older_resume_count": 0,
        "interval_ns": 3600 * S,
        "interval_steps": 360,
        "interval_basis": "saves",
        "stall_ns": 50 * S,
        "stall_basis": "saves",
        "tiers_basis": "none",
        "far_ratio": 0.78,
        "far_basis": "published",
        "load_count": 0,
        "bytes": 160 * 10**9,
        "bytes_basis": "saves",
        "writer_count": 16,
        "interruption_count": 9,
        "downtime_ns": 100 * S,
        "downtime_median_ns": 100 * S,
        "restart_ns": 300 * S,
        "restart_median_ns": 300 * S,
        "restart_basis": "interruptions",
        "mtbf_ns": 10_000 * S,
        "mtbf_low_ns": 5000 * S,
        "mtbf_high_ns": 20_000 * S,
        "mtbf_source": "own",
        "mtbf_words": "9 interruptions of this run",
    }
    return CheckpointEvidence.validate(frame(CheckpointEvidence, [row | other]))
