"""Interruptions over drawn timelines: one letter is a node, times are seconds."""

import pytest

from ingest.times import SECOND_NS
from tests.analysis.stops import RUNNING_ON, attempt, failure, find, stopped


def test_a_stop_is_told_with_all_its_times() -> None:
    # run       steps 0..9, last ends at 900   | end 1000 | start 1100, step 7 at 1130
    # node a                       79 at 905
    # job                                      | requeued 1020
    first = attempt(0, 0, 1000, "NODE_FAIL", first_step=0, last_step=9)
    first["last_step_end_ns"] = 900 * SECOND_NS
    after = RUNNING_ON | {"first_step": 7, "submit_ns": 1020 * SECOND_NS}
    steps = [
        {"run_id": "r", "step": step, "rank": rank, "start_ns": at * SECOND_NS + rank}
        for step, at in ((9, 800), (7, 1130), (8, 1140))
        for rank in (0, 1)
    ]
    (stop,) = find([first, after], [failure("79", 905)], steps)
    times = {key: stop[key] // SECOND_NS for key in stop if key.endswith("_ns")}
    assert times == {
        "last_step_end_ns": 900,
        "detected_ns": 905,
        "decided_ns": 1000,
        "requeued_ns": 1020,
        "started_ns": 1100,
        "first_step_ns": 1130,
    }
    assert stop["lost_steps"] == 3  # steps 7, 8 and 9
    assert stop["cause"] == "xid 79: meaning"
    assert (stop["category"], stop["component"]) == ("hardware", "gpu")
    assert stop["planned"] is False


@pytest.mark.parametrize(
    ("at", "is_found"),
    [(399, False), (400, True), (1000, True), (1300, True), (1301, False)],
)
def test_the_cause_shows_within_ten_minutes_before_and_five_after(
    at: int, *, is_found: bool
) -> None:
    (stop,) = find(stopped(), [failure("79", at)])
    assert (stop["incident_id"] is not None) is is_found
    assert stop["category"] == ("hardware" if is_found else "unattributed")


@pytest.mark.parametrize(("at", "is_found"), [(239, False), (240, True)])
def test_a_hang_is_laid_to_what_happened_when_steps_ceased(
    at: int, *, is_found: bool
) -> None:
    # The last step ends at 300, the job is killed at 1000: the window opens at 240.
    (stop,) = find(stopped(last_step_end_ns=300), [failure("79", at)])
    assert (stop["incident_id"] is not None) is is_found


def test_a_failure_of_another_node_or_cluster_is_not_the_cause() -> None:
    elsewhere = [failure("79", 990, "c"), failure("79", 990, cluster="other")]
    (stop,) = find(stopped(), elsewhere)
    assert stop["incident_id"] is None
    assert stop["cause"] == "NODE_FAIL: no failure on its nodes around its end"


def test_a_failure_before_the_attempt_began_is_not_its_cause() -> None:
    # attempt 0: [0, 1000)   attempt 1: [1100, 1200), 79 at 1050 is of the first
    second = attempt(1, 1100, 1200, "FAILED")
    stops = find([attempt(0, 0, 1000, "FAILED"), second], [failure("79", 1050)])
    assert [stop["incident_id"] is not None for stop in stops] == [True, False]


def test_of_several_causes_the_worst_is_named_and_the_others_are_kept() -> None:
    worst = failure("79", 950, "b", severity="fatal")
    milder = failure("63", 700, "a", severity="warning")
    users = failure("43", 500, "a", severity="error", component="software")
    (stop,) = find(stopped(), [milder, worst, users])
    assert stop["cause"] == "xid 79: meaning"
    assert stop["other_incident_ids"].count(",") == 0
    assert stop["detected_ns"] == 950 * SECOND_NS


def test_a_notice_is_not_blamed() -> None:
    (stop,) = find(stopped(), [failure("45", 990, severity="info")])
    assert stop["category"] == "unattributed"


def test_nodes_may_be_told_by_the_gpus_alone() -> None:
    gpus = [{"run_id": "r", "attempt": 0, "host": "a"}]
    (stop,) = find(stopped(hosts=None), [failure("79", 990)], gpus=gpus)
    assert stop["category"] == "hardware"


def test_without_nodes_the_stop_stays_unattributed() -> None:
    (stop,) = find(stopped(hosts=None), [failure("79", 990)])
    assert stop["cause"] == "NODE_FAIL: its nodes are not known"


def test_an_event_without_a_node_counts_where_one_run_alone_stopped() -> None:
    nowhere = [failure("79", 990, None)]
    (stop,) = find(stopped(), nowhere)
    assert stop["category"] == "hardware"
    other = [row | {"run_id": "q", "hosts": "c"} for row in stopped()]
    both = find(stopped() + other, nowhere)
    assert [stop["category"] for stop in both] == ["unattributed", "unattributed"]


def test_steps_are_lost_to_the_attempt_that_did_them_first() -> None:
    # steps 0..9, then an attempt without any, then 5..7, then 6..
    attempts = [
        attempt(0, 0, 100, "FAILED", first_step=0, last_step=9),
        attempt(1, 110, 120, "FAILED"),
        attempt(2, 130, 200, "FAILED", first_step=5, last_step=7),
        attempt(3, 210, 300, "RUNNING", first_step=6, is_running=True),
    ]
    assert [stop["lost_steps"] for stop in find(attempts)] == [5, None, 2]


def test_a_resubmission_before_the_end_counts_from_the_end() -> None:
    after = RUNNING_ON | {"submit_ns": 10 * SECOND_NS}
    (stop,) = find([attempt(0, 0, 1000, "TIMEOUT"), after])
    assert stop["requeued_ns"] == 1000 * SECOND_NS


def test_a_sign_from_before_the_window_is_the_first_sign() -> None:
    storm = [failure("48", at) for at in range(240, 960, 4)]
    (stop,) = find(stopped(last_step_end_ns=980), storm)
    assert stop["detected_ns"] == 240 * SECOND_NS
    late = [attempt(0, 300, 1000, "NODE_FAIL"), RUNNING_ON]
    (stop,) = find(late, storm)
    assert stop["detected_ns"] == 300 * SECOND_NS
