"""Phases of losses on drawn timelines, and that they add up to the ledger."""

from typing import Any, Final

import polars as pl
import pytest

from analysis.loss_phases import LossPhases
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


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES)
def test_phases_add_up_to_the_ledger_of_drawn_timelines(case: str) -> None:
    check_phases_add_up(lost(read(case)))
