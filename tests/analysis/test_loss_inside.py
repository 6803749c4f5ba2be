"""Losses inside a job, of others, and before the first step, on drawn timelines."""

import pytest

from analysis.attempts import StepPauses
from analysis.interruptions import Interruptions
from analysis.loss_phases import LossPhases
from analysis.lost_time import LostTime
from ingest.tables import StepTimings
from tests.analysis.ledgers import Row, job, step
from tests.analysis.losses import check_phases_add_up, lost, phases
from tests.analysis.test_loss_phases import (
    FIRST,
    NODE,
    OURS,
    SECOND,
    S,
    drawn,
    failures,
    jobs,
    steps,
    xid,
)


def test_jobs_that_made_room_are_counted_once() -> None:
    # Others on node a end around 90 s, when the run starts again on it: the first had
    # run 40 s on 4 GPUs, the second for an hour on 8, of which half an hour counts.
    others = [
        job(7, 50, 90, 4) | NODE | {"run_id": None, "state": "PREEMPTED"},
        job(8, -3_510, 90, 8) | NODE | {"run_id": None, "state": "REQUEUED"},
        job(9, 50, 89, 8) | NODE | {"run_id": None, "state": "FAILED"},
        job(10, 50, 88, 8) | {"hosts": "b", "run_id": None, "state": "PREEMPTED"},
    ]
    frames = lost(drawn(jobs=jobs(FIRST | OURS, SECOND | OURS, *others)))
    check_phases_add_up(frames)
    (row,) = (
        frames[LossPhases]
        .filter(LossPhases.phase.col == "second_order")
        .select("attempt", "jobs_preempted", "gpu_ns", "account")
        .collect()
        .rows()
    )
    assert row == (0, 2, (40 * 4 + 1_800 * 8) * S, None)


def test_steps_that_go_back_inside_a_job_are_a_stop() -> None:
    # one job, steps 1 to 4 until 40, a failure at 50, steps 3 and 4 again from 200 on
    log = [
        step(rank, number, at, at + 10)
        for rank in (0, 1)
        for number, at in ((1, 0), (2, 10), (3, 20), (4, 30), (3, 200), (4, 210))
    ]
    one = job(1, 0, 220, 2) | NODE | {"state": "COMPLETED"}
    tables = drawn(jobs=jobs(one), failures=failures(xid(50)))
    frames = lost(tables | {StepTimings: steps(*log)})
    check_phases_add_up(frames)
    (stop,) = frames[Interruptions].collect().to_dicts()
    assert (stop["kind"], stop["lost_steps"], stop["category"]) == (
        "went_back",
        2,
        "hardware",
    )
    found = phases(frames)
    assert found["hang"] == (10 * S, 20 * S)
    assert found["start"] == (150 * S, 300 * S)
    assert found["recompute"] == (20 * S, 40 * S)


@pytest.mark.parametrize(("told", "count"), [([], 0), ([xid(40)], 1)])
def test_a_pause_is_a_stop_where_a_failure_tells_of_it(
    told: list[Row], count: int
) -> None:
    # Steps 1 to 3 until 30, then 4 from 5,000 on: it goes on at the very next step.
    log = [
        step(rank, number, at, at + 10)
        for rank in (0, 1)
        for number, at in ((1, 0), (2, 10), (3, 20), (4, 5_000), (5, 5_010))
    ]
    one = job(1, 0, 5_020, 2) | NODE | {"state": "COMPLETED"}
    tables = drawn(jobs=jobs(one), failures=failures(*told))
    frames = lost(tables | {StepTimings: steps(*log)})
    assert frames[StepPauses].collect().height == 1
    stops = frames[Interruptions].collect()
    assert stops["kind"].to_list() == ["pause"] * count
    check_phases_add_up(frames)
    # the pause is not one very long step: 2 ranks did 5 steps of 10 s
    useful = frames[LostTime].filter(LostTime.category.col == "productive")
    assert useful.select("gpu_ns").sum().collect().item() == 2 * 5 * 10 * S


def test_a_job_that_was_preempted_before_its_first_step_only_started() -> None:
    # job 1 [0, 8) never stepped, job 2 [10, 60) steps from 10 on
    gone = job(1, 0, 8, 2) | NODE | {"state": "PREEMPTED"}
    ran = job(2, 10, 60, 2) | NODE | {"state": "COMPLETED"}
    log = [step(rank, 1, 20, 30) for rank in (0, 1)]
    frames = lost(
        drawn(jobs=jobs(gone, ran), failures=failures()) | {StepTimings: steps(*log)}
    )
    check_phases_add_up(frames)
    (stop,) = frames[Interruptions].collect().to_dicts()
    assert (stop["category"], stop["last_step_end_ns"]) == ("scheduler", None)
    told = frames[LossPhases].filter(LossPhases.gpu_ns.col > 0)
    assert told.select("attempt", "phase", "gpu_ns").sort(
        "attempt", "phase"
    ).collect().rows() == [
        (0, "first_start", 16 * S),
        (0, "start", 20 * S),
        (1, "end", 60 * S),
    ]
