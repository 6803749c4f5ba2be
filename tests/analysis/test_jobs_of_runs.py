"""Which run a job belongs to, where it names none."""

from analysis._analysis import Frames
from analysis.attempts import Attempts, find_attempts
from ingest.tables import Jobs, RunCards
from reports import _blind_jobs
from tests.analysis.ledgers import Row, job, rows


def owners(jobs: list[Row], cards: list[Row]) -> list[tuple[object, ...]]:
    """Run, cluster and job of each attempt."""
    nameless = [one | {"run_id": None} for one in jobs]
    found = find_attempts(
        Frames({Jobs: rows(Jobs, *nameless), RunCards: rows(RunCards, *cards)})
    )
    return found.select("run_id", "cluster", "job_id").rows()


def called(number: int, name: str, cluster: str = "c") -> Row:
    return job(number, 10, 50, 2) | {"job_name": name, "cluster": cluster}


def test_a_job_called_like_a_run_with_a_card_on_its_cluster_is_of_that_run() -> None:
    jobs = [called(1, "alpha"), called(2, "beta"), called(3, "alpha", "d")]
    cards: list[Row] = [{"run_id": "alpha"}, {"run_id": "beta"}]
    assert owners(jobs, cards) == [("alpha", "c", "1"), ("beta", "c", "2")]


def test_a_card_that_lists_a_job_has_it_whatever_its_name() -> None:
    cards: list[Row] = [{"run_id": "alpha"}, {"run_id": "beta", "job_ids": "1"}]
    assert owners([called(1, "alpha")], cards) == [("beta", "c", "1")]


def test_a_job_that_a_run_has_by_its_card_is_not_without_a_run() -> None:
    jobs = [called(1, "alpha") | {"run_id": None}, called(2, "x") | {"run_id": None}]
    frames = {Jobs: rows(Jobs, *jobs), RunCards: rows(RunCards, {"run_id": "alpha"})}
    attempts = find_attempts(Frames(frames))
    told = Frames({**frames, Attempts: attempts.lazy()})
    assert _blind_jobs.hint(told).startswith("1 job belongs")
