"""What the ledger makes of lost rows, lost attempts, means and midnights."""

from collections.abc import Mapping

import polars as pl
import pytest

from analysis._ledger_days import sum_by_day
from analysis.lost_time import LostTime
from ingest.tables import Checkpoints, Jobs, Kernels, RunCards, StepTimings
from ingest.times import DAY_NS
from tests.analysis.ledgers import Row, Tables, booked, job, rows, step


def accounts(tables: Tables) -> Mapping[tuple[int | None, str, str], int]:
    """GPU time by attempt, account and basis. [ns]"""
    found = booked(tables)[LostTime].collect()
    columns = ("attempt", "category", "basis", "gpu_ns")
    return {(a, c, b): int(ns) for a, c, b, ns in found.select(columns).rows()}


def both(number: int, start: int, end: int) -> list[Row]:
    """A step of two ranks."""
    return [step(rank, number, start, end) for rank in (0, 1)]


def test_rank_whose_rows_are_lost_is_unattributed_alone() -> None:
    #         0        10       20       30       40
    # rank 0  |== 1 ===|== 2 ===|== 3 ===|        |
    # rank 1  |== 1 ===|   ?    |== 3 ===|        |
    log = [*both(1, 0, 10), step(0, 2, 10, 20), *both(3, 20, 30)]
    tables = {Jobs: rows(Jobs, job(1, 0, 40, 2)), StepTimings: rows(StepTimings, *log)}
    assert accounts(tables) == {
        (0, "productive", "step_duration_upper_bound"): 50,
        (0, "unattributed", "none"): 10,
        (0, "restart", "jobs"): 20,
    }


def test_lost_row_of_the_last_step_is_unattributed_alone() -> None:
    #         0        10       20       30
    # rank 0  |== 1 ===|== 2 ===|        |
    # rank 1  |== 1 ===|== 2 ===|        |
    # rank 2  |== 1 ===|   ?    |        |
    log = [*both(1, 0, 10), step(2, 1, 0, 10), *both(2, 10, 20)]
    tables = {Jobs: rows(Jobs, job(1, 0, 30, 3)), StepTimings: rows(StepTimings, *log)}
    assert accounts(tables) == {
        (0, "productive", "step_duration_upper_bound"): 50,
        (0, "unattributed", "none"): 10,
        (0, "restart", "jobs"): 30,
    }


def test_step_that_not_every_rank_completed_is_restart() -> None:
    log = [*both(1, 0, 10), step(0, 2, 10, 20)]
    tables = {Jobs: rows(Jobs, job(1, 0, 20, 2)), StepTimings: rows(StepTimings, *log)}
    assert accounts(tables) == {
        (0, "productive", "step_duration_upper_bound"): 20,
        (0, "restart", "jobs"): 20,
    }


@pytest.mark.parametrize(("resumed", "account"), [(2, "restart"), (9, "unattributed")])
def test_attempt_without_rows_got_nowhere_if_the_next_shows_it(
    resumed: int, account: str
) -> None:
    # Attempt 1 has no row. Attempt 2 goes on from step 2: nothing had come of it. If it
    # goes on from step 9, the steps between were done, and the log of them is lost.
    log = [step(0, 1, 0, 10), step(0, resumed, 40, 50)]
    jobs = [job(1, 0, 10, 1), job(2, 20, 30, 1), job(3, 40, 50, 1)]
    tables = {Jobs: rows(Jobs, *jobs), StepTimings: rows(StepTimings, *log)}
    assert accounts(tables)[1, account, "jobs"] == 10


def test_step_is_recompute_each_time_that_it_was_in_vain() -> None:
    # Step 3 of attempt 0 was never done again, but the run went back before it.
    log = [step(0, n, 10 * n, 10 * n + 10) for n in (1, 2, 3)]
    log += [step(0, 2, 100, 110), step(0, 2, 200, 210)]
    jobs = [job(1, 10, 40, 1), job(2, 100, 110, 1), job(3, 200, 210, 1)]
    tables = {Jobs: rows(Jobs, *jobs), StepTimings: rows(StepTimings, *log)}
    found = accounts(tables)
    basis = "step_duration_upper_bound"
    assert found == {
        (0, "productive", basis): 10,
        (0, "recompute", basis): 20,
        (1, "recompute", basis): 10,
        (2, "productive", basis): 10,
    }


def test_mean_over_the_run_speaks_for_every_gpu() -> None:
    # A line for every tenth step: each of them took 5.
    mean = step(None, 10, 100, 105, step_count=10, wait_ns=1, compute_ns=3)
    layout: Row = {"tp": 2, "cp": 1, "pp": 1, "dp": 2, "ep": 1}
    tables = {
        Jobs: rows(Jobs, job(1, 100, 150, 5)),
        RunCards: rows(RunCards, layout),
        StepTimings: rows(StepTimings, mean),
    }
    assert accounts(tables) == {
        (0, "straggler_wait", "step_parts"): 4 * 10,
        (0, "productive", "step_parts"): 4 * 30,
        (0, "idle", "step_parts"): 4 * 10,
        (0, "unallocated", "jobs"): 50,
    }


def test_ranks_that_write_no_log_are_not_spoken_for() -> None:
    log = [step(0, 1, 10, 20), step(0, 2, 20, 30)]
    tables = {Jobs: rows(Jobs, job(1, 0, 40, 3)), StepTimings: rows(StepTimings, *log)}
    assert accounts(tables) == {
        (0, "productive", "step_duration_upper_bound"): 20,
        (0, "restart", "jobs"): 3 * 20,
        (0, "unattributed", "jobs"): 2 * 20,
    }


def test_overlapping_steps_end_where_the_next_starts() -> None:
    log = [step(0, 1, 0, 15), step(0, 2, 10, 20)]
    tables: Tables = {StepTimings: rows(StepTimings, *log)}
    assert sum(accounts(tables).values()) == 20


def test_stall_that_the_host_logged_is_part_of_what_the_device_shows_as_idle() -> None:
    # The device computes 60 of 100. The host says that it waited 30 for data and 30 for
    # a checkpoint: no more than 40 of that can be.
    logged = step(0, 1, 0, 100, data_ns=30, checkpoint_ns=30)
    kernel = {"rank": 0, "start_ns": 0, "duration_ns": 60, "step": 1}
    tables = {
        StepTimings: rows(StepTimings, logged),
        Kernels: rows(Kernels, kernel),
    }
    basis = "collectives"
    assert accounts(tables) == {
        (0, "checkpoint_stall", basis): 30,
        (0, "data_stall", basis): 10,
        (0, "productive", basis): 60,
    }


def test_stalls_that_overlap_count_once() -> None:
    log = rows(StepTimings, step(0, 1, 0, 10), step(0, 2, 60, 70))
    stalls = rows(
        Checkpoints,
        {"start_ns": 20, "stall_ns": 20},
        {"start_ns": 30, "stall_ns": 20, "step": 2},
    )
    found = accounts({StepTimings: log, Checkpoints: stalls})
    assert found[0, "checkpoint_stall", "step_parts"] == 30
    assert found[0, "unattributed", "none"] == 20


def test_steps_that_a_trace_timed_are_no_log() -> None:
    # The job ran before the trace and after it; that it trained, nobody denies.
    trace = "0123456789abcdef"
    timed = step(0, 7, 50, 60, file_id=f"{trace}0123456789abcdef")
    kernel = {"trace_id": trace, "rank": 0, "start_ns": 50, "step": 7}
    tables = {
        Jobs: rows(Jobs, job(1, 0, 100, 1)),
        StepTimings: rows(StepTimings, timed),
        Kernels: rows(Kernels, kernel | {"duration_ns": 10}),
    }
    assert accounts(tables) == {
        (0, "productive", "collectives"): 10,
        (0, "unattributed", "none"): 90,
    }


def test_accounts_of_a_step_over_midnight_are_split_in_proportion() -> None:
    # 30 ns of which 10 are before midnight: floor(20 x 10 / 30) = 6 of the first 20.
    cell: Row = {"start_ns": DAY_NS - 10, "end_ns": DAY_NS + 20, "a": 20, "b": 10}
    found = sum_by_day(pl.LazyFrame([cell]), ("a", "b"), ()).sort("day").collect()
    assert found.rows() == [(0, 6, 4), (1, 14, 6)]


def test_step_over_several_midnights_has_its_accounts_one_after_the_other() -> None:
    cell: Row = {"start_ns": 0, "end_ns": 3 * DAY_NS, "a": DAY_NS + 5, "b": 0}
    rest = {"c": 2 * DAY_NS - 5}
    found = sum_by_day(pl.LazyFrame([cell | rest]), ("a", "b", "c"), ())
    assert found.sort("day").collect().rows() == [
        (0, DAY_NS, 0, 0),
        (1, 5, 0, DAY_NS - 5),
        (2, 0, 0, DAY_NS),
    ]


def test_a_job_that_goes_back_without_ending_is_restarting_in_between() -> None:
    #         0        10       20       30    40   50       60       70       80
    # rank 0  |== 1 ===|== 2 ===|== 3 ===|          |== 2 ===|== 3 ===|== 4 ===|
    # rank 1  |== 1 ===|== 2 ===|== 3 =|            |== 2 ===|== 3 ===|== 4 ===|
    # rank 2                    no row of its own
    log = [*both(1, 0, 10), *both(2, 10, 20), step(0, 3, 20, 30), step(1, 3, 20, 28)]
    log += [*both(2, 50, 60), *both(3, 60, 70), *both(4, 70, 80)]
    tables = {
        Jobs: rows(Jobs, job(1, 0, 80, 3)),
        RunCards: rows(RunCards, {"tp": 1, "cp": 1, "pp": 1, "dp": 3, "ep": 1}),
        StepTimings: rows(StepTimings, *log),
    }
    basis = "step_duration_upper_bound"
    assert accounts(tables) == {
        (0, "productive", basis): 2 * 40,
        (0, "recompute", basis): 20 + 18,
        (0, "restart", "jobs"): 20 + 22 + 20,
        (0, "unattributed", "jobs"): 60,
    }


def test_a_load_while_a_job_goes_back_is_no_stall_of_a_checkpoint() -> None:
    # rank 0  |== 1 ===|== 2 ===|  load  |== 2 ===| save |== 3 ===|
    log = [step(0, 1, 0, 10), step(0, 2, 10, 20), step(0, 2, 30, 40)]
    log += [step(0, 3, 45, 55)]
    stalls = [
        {"attempt": 0, "start_ns": at, "stall_ns": length}
        for at, length in ((20, 10), (40, 3))
    ]
    tables = {
        Jobs: rows(Jobs, job(1, 0, 55, 1)),
        StepTimings: rows(StepTimings, *log),
        Checkpoints: rows(Checkpoints, *stalls),
    }
    basis = "step_duration_upper_bound"
    assert accounts(tables) == {
        (0, "productive", basis): 10 + 10 + 10,
        (0, "recompute", basis): 10,
        (0, "restart", "jobs"): 10,
        (0, "checkpoint_stall", "step_parts"): 3,
        (0, "unattributed", "none"): 2,
    }


def test_a_rank_without_the_last_row_restarts_when_the_others_do() -> None:
    #         0        10       20       30   50       60
    # rank 0  |== 1 ===|== 2 ===|== 3 ===|    |== 3 ===|
    # rank 1  |== 1 ===|== 2 ===|   ?    |    |== 3 ===|
    # rank 2  |== 1 ===|== 2 ===|== 3 ===|    |== 3 ===|
    def three(number: int, start: int) -> list[Row]:
        return [*both(number, start, start + 10), step(2, number, start, start + 10)]

    log = [*three(1, 0), *three(2, 10), step(0, 3, 20, 30), step(2, 3, 20, 30)]
    log += three(3, 50)
    tables = {Jobs: rows(Jobs, job(1, 0, 60, 3)), StepTimings: rows(StepTimings, *log)}
    basis = "step_duration_upper_bound"
    assert accounts(tables) == {
        (0, "productive", basis): 3 * 30,
        (0, "recompute", basis): 2 * 10,
        (0, "unattributed", "none"): 10,
        (0, "restart", "jobs"): 3 * 20,
    }
