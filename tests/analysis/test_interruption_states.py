"""What the state of a job tells of its end. A letter is a node, times are seconds."""

from typing import Any

import polars as pl
import pytest

from analysis._analysis import Frames
from analysis.attempts import Attempts
from analysis.incidents import ANALYSIS as INCIDENTS
from analysis.incidents import IncidentEvents, Incidents
from analysis.interruptions import ANALYSIS, Interruptions
from ingest.tables import Failures, Table
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
) -> list[Row]:
    tables = {
        Attempts: rows_of(Attempts, attempts),
        Failures: rows_of(Failures, failures or []),
    }
    found = INCIDENTS.compute(Frames(tables), INCIDENTS.thresholds)
    for table in (Incidents, IncidentEvents):
        tables[table] = found[table].lazy()
    stops = ANALYSIS.compute(Frames(tables), ANALYSIS.thresholds)[Interruptions]
    return Interruptions.validate(stops).sort(Interruptions.key).to_dicts()


RUNNING_ON = attempt(1, 1100, 9000, "RUNNING", is_running=True)


def stopped(state: str | None = "NODE_FAIL", **other: Any) -> list[Row]:
    """A run that stops at 1000 s and goes on at 1100 s."""
    return [attempt(0, 0, 1000, state, **other), RUNNING_ON]


@pytest.mark.parametrize(
    ("state", "category", "planned"),
    [
        ("COMPLETED", "scheduler", True),
        ("TIMEOUT", "scheduler", True),
        ("PREEMPTED", "scheduler", False),
        ("CANCELLED", "user", True),
        ("OUT_OF_MEMORY", "user", False),
        ("FAILED", "unattributed", False),
        (None, "unattributed", False),
    ],
)
def test_a_state_tells_what_no_failure_does(
    state: str | None, category: str, *, planned: bool
) -> None:
    (stop,) = find(stopped(state))
    assert (stop["category"], stop["planned"]) == (category, planned)


def test_a_cancellation_after_a_defect_was_not_meant() -> None:
    (stop,) = find(stopped("CANCELLED"), [failure("79", 900)])
    assert (stop["category"], stop["planned"]) == ("hardware", False)


def test_the_teardown_of_a_cancelled_job_is_no_cause() -> None:
    teardown = [
        failure("43", 995, severity="error", component="software"),
        failure("79", 1001, "b"),
    ]
    (stop,) = find(stopped("CANCELLED"), teardown)
    assert (stop["category"], stop["planned"]) == ("user", True)


def test_a_time_limit_is_no_failure_unless_the_run_had_stood_still() -> None:
    moving = stopped("TIMEOUT", last_step_end_ns=990)
    hung = stopped("TIMEOUT", last_step_end_ns=100)
    assert find(moving, [failure("79", 995)])[0]["category"] == "scheduler"
    assert find(hung, [failure("79", 101)])[0]["category"] == "hardware"


def test_a_run_that_was_done_or_goes_on_has_no_stop() -> None:
    assert find([attempt(0, 0, 1000, "COMPLETED")]) == []
    assert find([attempt(0, 0, 1000, None)]) == []
    assert find([RUNNING_ON]) == []


def test_a_run_that_failed_for_good_has_one() -> None:
    (stop,) = find([attempt(0, 0, 1000, "FAILED")])
    assert stop["started_ns"] is None
    assert stop["lost_steps"] is None
