"""Fleets that fail: attempts and failures by hand, brought to incidents and stops."""

from typing import Any

import polars as pl

from analysis._analysis import Analysis, Frames
from analysis.attempts import Attempts
from analysis.incidents import ANALYSIS as INCIDENTS
from analysis.interrupt_rates import ANALYSIS as RATES
from analysis.interruptions import ANALYSIS as INTERRUPTIONS
from analysis.runs import Runs
from ingest.tables import Failures, Table
from ingest.times import DAY_NS

Row = dict[str, Any]
Tables = dict[type[Table], pl.LazyFrame]

#: A Monday, 2026-03-02T00:00Z: days of drawings count from it. [ns]
MONDAY_NS = 1_772_409_600 * 10**9


def at(day: float) -> int:
    """An instant, in days after the Monday. [ns]"""
    return MONDAY_NS + round(day * DAY_NS)


def xid(code: int, day: float, host: str, **other: Any) -> Row:
    """A line of a kernel log."""
    row = {
        "cluster": "pod",
        "host": host,
        "time_ns": at(day),
        "source": "xid",
        "code": str(code),
        "component": "gpu",
        "severity": "fatal",
        "line_count": 1,
    }
    return row | other


def attempt(
    run_id: str, number: int, start: float, end: float, hosts: str, **other: Any
) -> Row:
    """An attempt from day to day; it fails unless told otherwise."""
    row = {
        "run_id": run_id,
        "attempt": number,
        "cluster": "pod",
        "state": "NODE_FAIL",
        "start_ns": at(start),
        "end_ns": at(end),
        "is_running": False,
        "hosts": hosts,
        "gpu_count": 8 * len(hosts.split(",")),
    }
    return row | other


def rows_of(table: type[Table], rows: list[Row]) -> pl.LazyFrame:
    """Rows of a table; a column that a row leaves out is null."""
    return pl.DataFrame(rows, schema=table.create_empty().schema).lazy()


def tables(attempts: list[Row], failures: list[Row], **model: str) -> Tables:
    """All that analyses of rates read, and the rates.

    Args:
        attempts: Rows of Attempts.
        failures: Rows of Failures.
        model: Model of the GPUs of runs, by run.
    """
    runs = [
        {
            "run_id": run_id,
            "cluster": "pod",
            "gpus_per_node": 8,
            "gpu_model": model.get(run_id),
        }
        for run_id in sorted({row["run_id"] for row in attempts})
    ]
    found: Tables = {
        Attempts: rows_of(Attempts, attempts),
        Failures: rows_of(Failures, failures),
        Runs: rows_of(Runs, runs),
    }
    for one in (INCIDENTS, INTERRUPTIONS, RATES):
        found |= {table: rows.lazy() for table, rows in ask(one, found).items()}
    return found


def ask(
    analysis: Analysis, found: Tables, **thresholds: float
) -> dict[type[Table], pl.DataFrame]:
    """Ask a question; its tables keep their own rules and their keys are unique."""
    told = analysis.compute(Frames(found), {**analysis.thresholds, **thresholds})
    for table, rows in told.items():
        table.validate(rows)
        assert rows.select(table.key).is_unique().all()
    return dict(told)
