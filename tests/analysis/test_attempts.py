"""Attempts: from jobs, from the step log, from its restarts, from traces."""

import polars as pl

from analysis._analysis import Frames
from analysis.attempts import Attempts, find_attempts
from ingest.tables import Jobs, Kernels, RunCards, StepTimings
from tests.analysis.ledgers import Row, rows, step


def steps(*given: Row) -> Frames:
    return Frames({StepTimings: rows(StepTimings, *given)})


def told(found: pl.DataFrame, *columns: str) -> list[tuple[object, ...]]:
    return found.select(columns).rows()


def test_jobs_are_attempts_in_order_of_start() -> None:
    later = {"job_id": "9", "submit_ns": 40, "start_ns": 50, "end_ns": 90}
    first = {"job_id": "8", "submit_ns": 1, "start_ns": 10, "end_ns": 40}
    waiting = {"job_id": "10", "submit_ns": 95}
    frames = Frames({Jobs: rows(Jobs, later, first, waiting)})
    found = find_attempts(frames)
    columns = ("attempt", "job_id", "submit_ns", "start_ns", "end_ns", "basis")
    assert told(found, *columns) == [
        (0, "8", 1, 10, 40, "jobs"),
        (1, "9", 40, 50, 90, "jobs"),
    ]


def test_overlapping_jobs_end_where_the_next_starts() -> None:
    long = {"job_id": "1", "start_ns": 0, "end_ns": 100}
    short = {"job_id": "2", "start_ns": 60, "end_ns": 80}
    last = {"job_id": "3", "start_ns": 70, "end_ns": 120}
    found = find_attempts(Frames({Jobs: rows(Jobs, long, short, last)}))
    assert told(found, "start_ns", "end_ns") == [(0, 60), (60, 70), (70, 120)]


def test_running_job_ends_when_last_seen() -> None:
    job = {"job_id": "1", "start_ns": 0, "state": "RUNNING"}
    frames = Frames(
        {Jobs: rows(Jobs, job), StepTimings: rows(StepTimings, step(0, 1, 10, 30))}
    )
    found = find_attempts(frames)
    assert told(found, "end_ns", "is_running") == [(30, True)]


def test_card_ties_jobs_to_its_run() -> None:
    mine = {"run_id": None, "job_id": "7", "start_ns": 0, "end_ns": 9}
    other = mine | {"job_id": "70"}
    elsewhere = mine | {"cluster": "d"}
    card = {"job_ids": "6, 7", "gpus_per_node": 8}
    frames = Frames(
        {
            Jobs: rows(Jobs, mine | {"node_count": 2}, other, elsewhere),
            RunCards: rows(RunCards, card),
        }
    )
    found = find_attempts(frames)
    assert told(found, "run_id", "job_id", "cluster", "gpu_count") == [
        ("r", "7", "c", 16)
    ]


def test_attempts_that_the_step_log_names() -> None:
    found = find_attempts(
        steps(step(0, 5, 0, 9, attempt=1), step(0, 4, 20, 30, attempt=2))
    )
    assert told(found, "attempt", "start_ns", "end_ns", "basis") == [
        (1, 0, 9, "steps"),
        (2, 20, 30, "steps"),
    ]


def test_restart_shows_where_steps_go_back() -> None:
    # GIVEN two ranks that go back from step 2 to 1, rank 1 a little later, and a
    # rank that was silent until then
    #
    #   rank 0  |1--|2--|    |1--|2--|
    #   rank 1  |1--|2--|     |1--|2--|
    #   rank 2                |1--|2--|
    #           0   10  20   30  40  50
    early = [step(rank, n, 10 * n - 10, 10 * n) for rank in (0, 1) for n in (1, 2)]
    late = [
        step(rank, n, 20 + 10 * n + lag, 30 + 10 * n + lag)
        for rank, lag in ((0, 0), (1, 1), (2, 1))
        for n in (1, 2)
    ]
    found = find_attempts(steps(*early, *late))
    columns = ("attempt", "start_ns", "end_ns", "first_step", "last_step")
    assert told(found, *columns, "resumed_step") == [
        (0, 0, 20, 1, 2, None),
        (1, 30, 51, 1, 2, 1),
    ]
    assert found["gpu_count"].to_list() == [2, 3]


def test_one_bad_row_is_not_a_restart() -> None:
    good = [step(rank, n, 10 * n, 10 * n + 9) for rank in range(4) for n in range(9)]
    bad = step(3, 0, 55, 59)
    found = find_attempts(steps(*good, bad))
    assert told(found, "first_step", "last_step") == [(0, 8)]


def test_step_told_twice_is_not_a_restart() -> None:
    found = find_attempts(
        steps(step(0, 1, 0, 10), step(0, 1, 1, 10), step(0, 2, 10, 20))
    )
    assert told(found, "attempt", "last_step") == [(0, 2)]


def test_last_step_is_that_which_every_rank_completed() -> None:
    found = find_attempts(
        steps(
            step(0, 1, 0, 10),
            step(1, 1, 0, 12),
            step(0, 2, 10, 20),
            step(1, 2, 12, 21),
            step(0, 3, 20, 30),
        )
    )
    assert told(found, "first_step", "last_step", "last_step_end_ns") == [(1, 2, 21)]


def test_lost_rows_of_a_rank_do_not_undo_steps() -> None:
    # A rank that shows step 9 cannot have left rank 1 behind in step 1.
    many = [step(0, n, 10 * n, 10 * n + 9) for n in range(1, 10)]
    found = find_attempts(steps(*many, step(1, 1, 10, 19)))
    assert told(found, "last_step") == [(8,)]


def test_a_last_step_that_most_ranks_logged_is_complete() -> None:
    # ranks 0 to 2 logged step 2, the row of rank 3 is lost
    log = [
        step(rank, number, 10 * number, 10 * number + 9 + rank)
        for number in (1, 2)
        for rank in range(4)
        if (number, rank) != (2, 3)
    ]
    found = find_attempts(steps(*log))
    assert told(found, "last_step", "last_step_end_ns") == [(2, 31)]

    # the run went back to step 2: nothing had come of it
    again = [step(rank, 2, 90, 99) for rank in range(4)]
    found = find_attempts(steps(*log, *again))
    assert told(found, "attempt", "last_step") == [(0, 1), (1, 2)]


def test_step_done_again_in_one_attempt_counts_as_done_last() -> None:
    job = {"job_id": "1", "start_ns": 0, "end_ns": 100}
    log = [step(0, n, at, at + 9) for at, n in ((0, 1), (10, 2), (20, 3), (50, 2))]
    frames = Frames({Jobs: rows(Jobs, job), StepTimings: rows(StepTimings, *log)})
    found = find_attempts(frames)
    assert told(found, "last_step", "last_step_end_ns") == [(2, 59)]


def test_run_without_jobs_or_steps_is_what_its_traces_hold() -> None:
    kernels = rows(
        Kernels,
        {"rank": 0, "start_ns": 100, "duration_ns": 10, "step": 4},
        {"rank": 0, "start_ns": 120, "duration_ns": 10, "step": 5},
        {"rank": 1, "trace_id": "u", "start_ns": 90, "duration_ns": 30, "step": 4},
    )
    found = find_attempts(Frames({Kernels: kernels}))
    columns = ("basis", "step_basis", "start_ns", "end_ns", "first_step", "gpu_count")
    assert told(found, *columns) == [("traces", "traces", 90, 130, 4, 2)]


def test_trace_without_a_rank_is_a_gpu_where_no_rank_is_known() -> None:
    nameless = {"trace_id": "u", "start_ns": 0, "duration_ns": 9}
    alone = find_attempts(Frames({Kernels: rows(Kernels, nameless)}))
    named = nameless | {"trace_id": "t", "rank": 0}
    beside = find_attempts(Frames({Kernels: rows(Kernels, nameless, named)}))
    assert (alone["gpu_count"].to_list(), beside["gpu_count"].to_list()) == ([1], [1])


def test_job_that_is_named_by_steps_of_another_number_still_holds_them() -> None:
    job = {"job_id": "1", "start_ns": 0, "end_ns": 100}
    log = rows(StepTimings, step(0, 1, 10, 20, attempt=6))
    found = find_attempts(Frames({Jobs: rows(Jobs, job), StepTimings: log}))
    assert told(found, "attempt", "last_step", "gpu_count") == [(0, 1, 1)]


def test_nothing_seen_is_no_attempt() -> None:
    assert find_attempts(Frames({})).equals(Attempts.create_empty())
