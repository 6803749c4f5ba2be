"""What a stop cost is null where nobody can know it, and 0 only where it was none."""

from typing import Any

from analysis.loss_phases import LossPhases
from ingest.tables import StepTimings
from tests.analysis.ledgers import job
from tests.analysis.losses import check_phases_add_up, lost, phases
from tests.analysis.test_loss_phases import (
    FIRST,
    LOG,
    NODE,
    OURS,
    SECOND,
    S,
    drawn,
    jobs,
    steps,
)


def stepless(**more: Any) -> dict[Any, Any]:
    return drawn(**more) | {StepTimings: steps()}


def test_without_a_step_log_a_hang_costs_nobody_knows_what() -> None:
    frames = lost(stepless())
    check_phases_add_up(frames)
    found = phases(frames)
    unknown = {"hang", "detect", "start", "recompute"}
    assert {phase for phase in found if found[phase] == (None, None)} == unknown
    # rented by the job: nothing is paid for in a queue
    assert (found["decide"], found["requeue"]) == ((10 * S, 0), (20 * S, 0))


def test_gpus_that_nobody_counted_cost_nobody_knows_what() -> None:
    one, other = (row | {"gpu_count": None} for row in (FIRST, SECOND))
    found = phases(lost(stepless(jobs=jobs(one, other))))
    assert found["hang"] == (None, None)
    assert found["start"] == (None, None)


def test_what_is_part_of_another_phase_costs_nothing_of_its_own() -> None:
    # job 2 [70, 80) completes no step, which is part of the start before it
    failed = job(2, 70, 80, 2) | NODE
    third = job(3, 90, 120, 2) | NODE | {"state": "COMPLETED"}
    frames = lost(drawn(jobs=jobs(FIRST, failed, third)))
    check_phases_add_up(frames)
    rows = frames[LossPhases].collect()
    assert rows["gpu_ns"].null_count() == 0


def test_a_next_attempt_without_steps_leaves_start_and_recompute_unknown() -> None:
    # the log of the second attempt is lost, and nothing tells whether it went on
    log = [row for row in LOG if row["start_ns"] < 60]
    frames = lost(drawn() | {StepTimings: steps(*log)})
    check_phases_add_up(frames)
    found = phases(frames)
    assert (found["hang"], found["detect"]) == ((15 * S, 30 * S), (15 * S, 30 * S))
    assert (found["start"], found["recompute"][1]) == ((None, None), None)


def test_a_run_that_did_not_come_back_paid_nothing_for_it() -> None:
    frames = lost(drawn(jobs=jobs(FIRST)))
    check_phases_add_up(frames)
    found = phases(frames)
    assert found["start"] == (None, 0)
    assert found["recompute"][1] == 0


def test_jobs_of_unknown_size_lost_nobody_knows_what() -> None:
    made_room = {"run_id": None, "state": "PREEMPTED"}
    blank = job(7, 50, 90, None) | NODE | made_room
    sized = job(8, 60, 90, 4) | NODE | made_room
    told = []
    for others in ([blank], [blank, sized]):
        frames = lost(drawn(jobs=jobs(FIRST | OURS, SECOND | OURS, *others)))
        rows = frames[LossPhases].filter(LossPhases.phase.col == "second_order")
        told += rows.select("gpu_ns", "jobs_preempted", "jobs_unsized").collect().rows()
    assert told == [(None, 1, 1), (30 * 4 * S, 2, 1)]
