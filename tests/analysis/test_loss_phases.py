"""Phases of losses on drawn timelines, and that they add up to the ledger."""

from typing import Any, Final

import polars as pl
import pytest

from analysis.attempts import StepPauses
from analysis.interruptions import Interruptions
from analysis.loss_phases import LossPhases
from analysis.lost_time import LostTime
from ingest.tables import Failures, Jobs, RunCards, StepTimings, Table
from ingest.times import SECOND_NS
from tests.analysis.ledgers import Row, job, rows, step
from tests.analysis.losses import check_phases_add_up, lost, phases
from tests.analysis.test_lost_time import CASES, read

S: Final = SECOND_NS

NODE = {"hosts": "a", "cluster": "c"}
OURS = {"run_id": "r"}


def seconds(row: Row) -> Row:
    """A row with its times in seconds."""
    return {
        name: value * S if name.endswith("_ns") and value is not None else value
        for name, value in row.items()
    }


def jobs(*given_rows: Row) -> pl.LazyFrame:
    return rows(Jobs, *[seconds(row) for row in given_rows])


def steps(*given_rows: Row) -> pl.LazyFrame:
    return rows(StepTimings, *[seconds(row) for row in given_rows])


def xid(at: int, host: str = "a", **other: Any) -> Row:
    told: Row = {
        "cluster": "c",
        "host": host,
        "source": "xid",
        "code": "79",
        "severity": "fatal",
        "component": "gpu",
        "time_ns": at * S,
        "time_quality": "exact",
        "inferred": False,
        "line_count": 1,
        "occurrence": 0,
    }
    return told | other


def failures(*given_rows: Row) -> pl.LazyFrame:
    empty = Failures.create_empty()
    return pl.DataFrame(list(given_rows), schema=empty.schema).lazy()


#          0    10   20   30      45     60   70      90     100  110  120
#   rank 0 |    |-1--|-2--|        |      |    |       |      |-2--|-3--|
#   rank 1 |    |-1--|-2--|        |      |    |       |      |-2--|-3--|
#   job     start                sign   end  requeued start             end
FIRST = job(1, 0, 60, 2) | NODE
SECOND = job(1, 90, 120, 2) | {"submit_ns": 70, "state": "COMPLETED"} | NODE
LOG = [
    step(rank, number, at, at + 10)
    for rank in (0, 1)
    for number, at in ((1, 10), (2, 20), (2, 100), (3, 110))
]


def drawn(**more: pl.LazyFrame) -> dict[type[Table], pl.LazyFrame]:
    tables: dict[type[Table], pl.LazyFrame] = {
        Jobs: jobs(FIRST, SECOND),
        StepTimings: steps(*LOG),
        Failures: failures(xid(45)),
    }
    names = {table.sql_name(): table for table in (Jobs, Failures, RunCards)}
    return tables | {names[name]: frame for name, frame in more.items()}


def test_each_phase_of_a_drawn_loss() -> None:
    frames = lost(drawn())
    check_phases_add_up(frames)
    assert phases(frames) == {
        "first_start": (10 * S, 20 * S),
        "hang": (15 * S, 30 * S),
        "detect": (15 * S, 30 * S),
        "decide": (10 * S, 0),
        "requeue": (20 * S, 0),
        "start": (10 * S, 20 * S),
        "recompute": (10 * S, 20 * S),
    }


def test_a_reserved_run_pays_between_its_attempts() -> None:
    card = rows(RunCards, {"billing": "reserved", "reserved_gpus": 2})
    frames = lost(drawn(run_cards=card))
    check_phases_add_up(frames)
    found = phases(frames)
    assert (found["decide"], found["requeue"]) == ((10 * S, 20 * S), (20 * S, 40 * S))


def test_without_a_sign_all_time_until_the_end_is_the_hang() -> None:
    frames = lost(drawn(failures=failures()))
    found = phases(frames)
    assert (found["hang"], found["detect"]) == ((30 * S, 60 * S), (None, 0))


def test_a_restart_that_never_stepped_is_part_of_the_start() -> None:
    # job 1 ends at 60, job 2 [70, 80) completes no step, job 3 steps from 100 on
    failed = job(2, 70, 80, 2) | NODE
    third = job(3, 90, 120, 2) | NODE | {"state": "COMPLETED"}
    frames = lost(drawn(jobs=jobs(FIRST, failed, third)))
    check_phases_add_up(frames)
    starts = frames[LossPhases].filter(LossPhases.phase.col == "start").collect()
    assert starts.select("attempt", "duration_ns", "gpu_ns").rows() == [
        (0, 10 * S, 20 * S),
        (1, 10 * S, 20 * S),
    ]


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


@pytest.mark.parametrize("case", CASES)
def test_phases_add_up_to_the_ledger_of_drawn_timelines(case: str) -> None:
    check_phases_add_up(lost(read(case)))
