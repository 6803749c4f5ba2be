"""Jobs that run on after a hang, or that several cards list: that is said."""

from typing import Any

from analysis.attempts import Attempts
from analysis.interruptions import Interruptions
from ingest.tables import RunCards
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


def test_a_job_that_two_cards_list_is_said() -> None:
    def spot_of(*cards: tuple[str, str, str]) -> str:
        names = ("run_id", "cluster", "job_ids")
        rows = [dict(zip(names, card, strict=True)) for card in cards]
        scope = Scope(prices_of("r"), provenance_of("r"))
        found = _blind_jobs.disputed(framed({RunCards: rows}), scope)
        return found.how_much if found else ""

    said = spot_of(("r", "c", "7, 8"), ("rz", "c", "8,9"))
    assert said.startswith("1 job (8) in the cards of r and rz; each counts for")
    assert not spot_of(("r", "c", "7"), ("rz", "d", "7"), ("s", "c", "9"))
