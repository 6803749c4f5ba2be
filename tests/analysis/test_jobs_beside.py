"""Jobs of one run that ran beside each other: a cut end is no end."""

from analysis.interruptions import Interruptions
from ingest.tables import Jobs
from ingest.times import SECOND_NS
from tests.analysis.ledgers import Row, job, rows
from tests.analysis.losses import check_phases_add_up, lost
from tests.analysis.stops import attempt, failure, find

MINUTE_NS = 60 * SECOND_NS


def minutes(number: int, start: int, end: int, state: str, **more: int) -> Row:
    told = job(number, start * MINUTE_NS, end * MINUTE_NS, 8)
    return told | {"state": state, "hosts": f"n{number}"} | more


def stops(*jobs: Row) -> list[tuple[object, ...]]:
    """Attempt, state in words, end and next start of each stop; in minutes."""
    frames = lost({Jobs: rows(Jobs, *jobs)})
    check_phases_add_up(frames)
    found = frames[Interruptions].sort(Interruptions.key).collect()
    ends = ("decided_ns", "started_ns")
    in_minutes = found.with_columns(found[name] // MINUTE_NS for name in ends)
    return in_minutes.select("attempt", "category", *ends).rows()


def test_a_job_beside_another_was_not_stopped_by_it() -> None:
    assert not stops(minutes(1, 0, 600, "COMPLETED"), minutes(2, 30, 600, "COMPLETED"))


def test_a_job_that_failed_beside_another_stopped_at_its_own_end() -> None:
    found = stops(
        minutes(1, 0, 60, "NODE_FAIL"),
        minutes(1, 65, 120, "COMPLETED"),
        minutes(7, 20, 64, "PREEMPTED"),
    )
    assert found == [(0, "unattributed", 60, 65), (1, "scheduler", 64, 65)]


def test_a_job_that_hung_while_the_next_began_is_followed_by_it() -> None:
    found = stops(minutes(1, 0, 60, "NODE_FAIL"), minutes(2, 55, 90, "COMPLETED"))
    assert found == [(0, "unattributed", 55, 55)]


def test_jobs_that_begin_together_are_beside_each_other() -> None:
    found = stops(minutes(1, 0, 9, "FAILED"), minutes(2, 0, 9, "COMPLETED"))
    assert found == [(0, "unattributed", 9, None)]


def test_a_fatal_failure_with_which_steps_cease_is_the_hang_of_a_job_that_runs() -> (
    None
):
    found = find([hung(1000)], [failure("79", 990, "b"), failure("94", 9000, "b")])
    told = [(stop["kind"], stop["category"], stop["decided_ns"]) for stop in found]
    assert told == [("hang", "hardware", None)]
    assert found[0]["detected_ns"] == 990 * SECOND_NS
    assert found[0]["last_step_end_ns"] == 1000 * SECOND_NS


def test_a_job_that_runs_has_not_hung_where_no_failure_says_so() -> None:
    early = [failure("79", 900, "b")]
    late = [failure("79", 9000, "b")]
    other = [failure("79", 990, "c")]
    no_worse = [failure("94", 990, "b", severity="error")]
    for said in (early, late, other, no_worse):
        assert not find([hung(1000)], said)
    stepless = hung(1000) | {"last_step_end_ns": None}
    assert not find([stepless], [failure("79", 990, "b")])


def hung(last: int) -> Row:
    return attempt(0, 0, last, "RUNNING", is_running=True, last_step_end_ns=last)
