"""Hangs as interruptions, and failures that a run's own log tells of."""

from typing import TYPE_CHECKING, Any

import pytest

from analysis._analysis import Frames
from analysis.attempts import Attempts
from analysis.hangs import Hangs, HangSuspects
from analysis.incidents import ANALYSIS as INCIDENTS
from analysis.incidents import IncidentEvents, Incidents
from analysis.interruptions import ANALYSIS, Interruptions
from ingest.tables import Failures, Table
from ingest.times import SECOND_NS
from tests.analysis.stops import (
    RUNNING_ON,
    Row,
    attempt,
    failure,
    rows_of,
    stopped,
)

if TYPE_CHECKING:
    from polars import LazyFrame


def hang(at: int, kind: str = "rank_stuck", number: int = 0, **other: Any) -> Row:
    told = {
        "run_id": "r",
        "attempt": number,
        "hang_id": f"dump {at}",
        "source": "dumps",
        "first_ns": at * SECOND_NS,
        "last_ns": (at + 5) * SECOND_NS,
        "kind": kind,
        "candidates_count": 1,
        "verdict": "rank 3 stopped",
    }
    return told | other


def suspect(at: int, rank: int) -> Row:
    return {
        "run_id": "r",
        "attempt": 0,
        "hang_id": f"dump {at}",
        "position": 0,
        "rank": rank,
        "is_candidate": True,
    }


def find(attempts: list[Row], failures: list[Row], hangs: list[Row]) -> list[Row]:
    tables: dict[type[Table], LazyFrame] = {
        Attempts: rows_of(Attempts, attempts),
        Failures: rows_of(Failures, failures),
        Hangs: rows_of(Hangs, hangs),
        HangSuspects: rows_of(HangSuspects, [suspect(600, 3), suspect(600, 12)]),
    }
    found = INCIDENTS.compute(Frames(tables), INCIDENTS.thresholds)
    for table in (Incidents, IncidentEvents):
        tables[table] = found[table].lazy()
    stops = ANALYSIS.compute(Frames(tables), ANALYSIS.thresholds)[Interruptions]
    return Interruptions.validate(stops).sort(Interruptions.key).to_dicts()


def test_a_hang_is_the_cause_where_no_stronger_one_is_known() -> None:
    # last step ends at 590, ranks asked for their last at 600, killed at 1000
    (stop,) = find(stopped("FAILED", last_step_end_ns=590), [], [hang(600)])
    assert (stop["hang_id"], stop["suspect_ranks"]) == ("dump 600", "3,12")
    assert stop["cause"] == "hang: rank 3 stopped"
    assert (stop["category"], stop["planned"]) == ("unattributed", False)


def test_a_watchdog_is_a_symptom_of_the_hang() -> None:
    told = {"source": "application", "component": "software", "severity": "error"}
    watchdog = failure("nccl_watchdog_timeout", 990, **told)
    (stop,) = find(stopped("FAILED", last_step_end_ns=590), [watchdog], [hang(600)])
    assert stop["cause"] == "hang: rank 3 stopped"
    assert stop["component"] is None
    assert stop["incident_id"] is not None
    assert stop["detected_ns"] == 990 * SECOND_NS


def test_a_defect_stays_the_cause_of_a_hang() -> None:
    stops = stopped("FAILED", last_step_end_ns=590)
    (stop,) = find(stops, [failure("79", 595)], [hang(600)])
    assert stop["cause"] == "xid 79: meaning"
    assert stop["suspect_ranks"] == "3,12"


def test_a_program_that_asks_for_different_things_is_software() -> None:
    stops = stopped("FAILED", last_step_end_ns=590)
    (stop,) = find(stops, [], [hang(600, "wrong_collective")])
    assert stop["category"] == "software"


def test_a_job_that_was_cancelled_because_it_hung_was_not_meant_to_end() -> None:
    stops = stopped("CANCELLED", last_step_end_ns=590, cancelled_by="1000")
    (stop,) = find(stops, [], [hang(600)])
    assert (stop["planned"], stop["cancelled_by"]) == (False, "1000")


def test_a_hang_without_the_end_of_a_job_is_an_interruption() -> None:
    running = attempt(0, 0, 5_000, "RUNNING", is_running=True, last_step_end_ns=590)
    (stop,) = find([running], [], [hang(600)])
    assert (stop["kind"], stop["decided_ns"]) == ("hang", None)
    assert stop["last_step_end_ns"] == 590 * SECOND_NS


def test_a_hang_of_which_dumps_alone_tell_is_an_interruption() -> None:
    (stop,) = find([], [], [hang(600)])
    assert (stop["kind"], stop["cause"]) == ("hang", "hang: rank 3 stopped")
    assert (stop["last_step_end_ns"], stop["decided_ns"]) == (None, None)


@pytest.mark.parametrize("told", [{"candidates_count": 0}], ids=["shows none"])
def test_dumps_that_show_no_hang_are_no_interruption(told: Row) -> None:
    running = attempt(0, 0, 5_000, "RUNNING", is_running=True, last_step_end_ns=590)
    assert find([running], [], [hang(600, **told)]) == []


def test_a_run_that_went_on_stepping_had_no_hang() -> None:
    running = attempt(0, 0, 5_000, "RUNNING", is_running=True, last_step_end_ns=900)
    assert find([running], [], [hang(600)]) == []


def nowhere(run_id: str | None, at: int = 990) -> Row:
    told = {"source": "application", "component": "gpu", "gpu_key": None}
    return failure("cuda_error", at, None, run_id=run_id, **told)


def two_runs() -> list[Row]:
    return stopped() + [row | {"run_id": "q", "hosts": "c"} for row in stopped()]


def test_what_a_runs_own_log_tells_is_of_that_run() -> None:
    stops = find(two_runs(), [nowhere("q")], [])
    assert [(stop["run_id"], stop["category"]) for stop in stops] == [
        ("q", "hardware"),
        ("r", "unattributed"),
    ]


def test_what_another_runs_log_tells_is_no_cause_where_one_run_alone_stopped() -> None:
    other = [attempt(0, 0, 9_000, "RUNNING", is_running=True) | {"run_id": "q"}]
    (stop,) = find(stopped() + other, [nowhere("q")], [])
    assert (stop["run_id"], stop["category"]) == ("r", "unattributed")


def test_a_run_that_is_not_known_tells_of_its_cluster() -> None:
    (stop,) = find(stopped(), [nowhere("never seen")], [])
    assert stop["category"] == "hardware"


def test_one_error_on_many_ranks_of_an_attempt_is_one_incident() -> None:
    rows = [nowhere("r", 900 + n) | {"host": "ab"[n % 2], "rank": n} for n in range(8)]
    tables: dict[type[Table], LazyFrame] = {
        Attempts: rows_of(Attempts, stopped()),
        Failures: rows_of(Failures, rows),
    }
    found = INCIDENTS.compute(Frames(tables), INCIDENTS.thresholds)[Incidents]
    assert found.select("root_code", "lines", "host_count").rows() == [
        ("cuda_error", 8, 2)
    ]


def test_a_run_that_was_done_and_begins_anew_has_done_no_step_again() -> None:
    done = attempt(0, 0, 1_000, "COMPLETED", first_step=0, last_step=9)
    anew = RUNNING_ON | {"first_step": 0, "last_step": 4}
    (stop,) = find([done, anew], [], [])
    assert (stop["planned"], stop["lost_steps"]) == (True, None)
    assert "begins as the run had begun" in stop["cause"]
