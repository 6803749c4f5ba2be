"""Runs: the card joined to what was seen."""

from analysis.attempts import Attempts
from analysis.runs import describe_runs
from ingest.tables import Jobs, RunCards
from tests.analysis.ledgers import Row, rows

CARD: Row = {
    "cluster": "pod",
    "billing": "reserved",
    "reserved_gpus": 16,
    "gpus": 10,
    "gpu": "H100-SXM",
    "tp": 8,
}


def attempt(number: int, start: int, end: int, gpus: int) -> Row:
    bounds = {"start_ns": start, "end_ns": end, "gpu_count": gpus}
    return {"run_id": "r", "attempt": number, "cluster": "seen"} | bounds


def test_card_and_what_was_seen() -> None:
    seen = rows(Attempts, attempt(0, 10, 20, 8), attempt(1, 25, 90, 9))
    found = describe_runs(rows(RunCards, CARD), rows(Jobs), seen).row(0, named=True)
    assert (found["cluster"], found["gpu_model"], found["tp"]) == ("pod", "H100-SXM", 8)
    assert (found["gpu_count"], found["reserved_gpus"]) == (10, 16)
    assert (found["start_ns"], found["end_ns"], found["has_card"]) == (10, 90, True)


def test_run_without_a_card() -> None:
    seen = rows(Attempts, attempt(0, 10, 20, 8), attempt(1, 25, 90, 9))
    found = describe_runs(rows(RunCards), rows(Jobs), seen).row(0, named=True)
    assert (found["cluster"], found["gpu_count"]) == ("seen", 9)
    assert (found["billing"], found["has_card"], found["tp"]) == (
        "allocated",
        False,
        None,
    )


def test_run_that_never_started_and_card_without_a_run() -> None:
    queued = {"run_id": "queued", "job_id": "1", "cluster": "c", "submit_ns": 5}
    found = describe_runs(rows(RunCards, CARD), rows(Jobs, queued), rows(Attempts))
    assert found["run_id"].to_list() == ["queued", "r"]
    assert found["start_ns"].to_list() == [None, None]
