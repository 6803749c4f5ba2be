"""A job that runs on after a hang: what nobody saw of it is said."""

from typing import Any

from analysis.attempts import Attempts
from analysis.interruptions import Interruptions
from reports import _blind_jobs
from reports._section import Scope
from tests.reports.builder import START, framed, prices_of, provenance_of


def spot(kind: str, *, is_running: bool) -> str:
    attempt = {"run_id": "r", "attempt": 0, "cluster": "c", "basis": "jobs"}
    told: dict[Any, Any] = {
        Attempts: [attempt | {"start_ns": START, "is_running": is_running}],
        Interruptions: [{"run_id": "r", "attempt": 0, "stop": 0, "kind": kind}],
    }
    found = _blind_jobs.hung(framed(told), Scope(prices_of("r"), provenance_of("r")))
    return found.how_much if found else ""


def test_the_time_of_a_job_that_hung_and_still_runs_is_not_known() -> None:
    assert spot("hang", is_running=True).startswith("1 job of r still runs; what")


def test_a_job_that_ended_or_went_on_has_no_such_time() -> None:
    assert not spot("hang", is_running=False)
    assert not spot("went_back", is_running=True)
