"""Runs that stop, and what their nodes told. A letter is a node, times are seconds."""

from typing import Any

import polars as pl

from analysis._analysis import Frames
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.incidents import ANALYSIS as INCIDENTS
from analysis.incidents import IncidentEvents, Incidents
from analysis.interruptions import ANALYSIS, Interruptions
from ingest.tables import Failures, StepTimings, Table
from ingest.times import SECOND_NS

Row = dict[str, Any]


def failure(code: str, at: int, host: str | None = "a", **other: Any) -> Row:
    row = {
        "cluster": "pod",
        "host": host,
        "gpu_key": "GPU-0",
        "time_ns": at * SECOND_NS,
        "time_quality": "exact",
        "source": "xid",
        "code": code,
        "name": "meaning",
        "component": "gpu",
        "severity": "fatal",
        "inferred": False,
        "line_count": 1,
        "occurrence": 0,
    }
    return row | other


def attempt(number: int, start: int, end: int, state: str | None, **other: Any) -> Row:
    row = {
        "run_id": "r",
        "attempt": number,
        "cluster": "pod",
        "job_id": "7",
        "basis": "jobs",
        "state": state,
        "start_ns": start * SECOND_NS,
        "end_ns": end * SECOND_NS,
        "is_running": False,
        "hosts": "a,b",
    }
    times = {key: value * SECOND_NS for key, value in other.items() if "_ns" in key}
    return row | other | times


def rows_of(table: type[Table], rows: list[Row]) -> pl.LazyFrame:
    return pl.DataFrame(rows, schema=table.create_empty().schema).lazy()


def find(
    attempts: list[Row],
    failures: list[Row] | None = None,
    steps: list[Row] | None = None,
    gpus: list[Row] | None = None,
) -> list[Row]:
    """Find the interruptions of attempts, in the order of their key."""
    tables = {
        Attempts: rows_of(Attempts, attempts),
        Failures: rows_of(Failures, failures or []),
        Gpus: rows_of(Gpus, gpus or []),
        StepTimings: rows_of(StepTimings, steps or []),
    }
    found = INCIDENTS.compute(Frames(tables), INCIDENTS.thresholds)
    for table in (Incidents, IncidentEvents):
        tables[table] = found[table].lazy()
    stops = ANALYSIS.compute(Frames(tables), ANALYSIS.thresholds)[Interruptions]
    return Interruptions.validate(stops).sort(Interruptions.key).to_dicts()


#: The attempt that goes on after one that ended at 1000 s.
RUNNING_ON = attempt(1, 1100, 9000, "RUNNING", is_running=True)


def stopped(state: str | None = "NODE_FAIL", **other: Any) -> list[Row]:
    """A run that stops at 1000 s and goes on at 1100 s."""
    return [attempt(0, 0, 1000, state, **other), RUNNING_ON]
