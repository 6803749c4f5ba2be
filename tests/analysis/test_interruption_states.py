"""What the state of a job tells of its end. A letter is a node, times are seconds."""

import pytest

from tests.analysis.stops import RUNNING_ON, attempt, failure, find, stopped


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
