"""Allocations: each GPU paid for, once."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.runs import Runs
from ingest.tables import HostMap, Jobs, Kernels, RunCards, StepTimings
from tests.analysis.ledgers import Tables, booked, job, rows, step


def paid(tables: Tables) -> pl.DataFrame:
    return booked(tables, "allocations")[Allocations].collect()


def told(found: pl.DataFrame) -> list[tuple[object, ...]]:
    ordered = found.sort("from_ns", "slot")
    return ordered.select("attempt", "slot", "rank", "role", "from_ns", "to_ns").rows()


def test_job_pays_for_its_gpus_ranks_first() -> None:
    tables = {
        Jobs: rows(Jobs, job(1, 10, 90, 3)),
        StepTimings: rows(StepTimings, step(0, 1, 20, 30), step(1, 1, 20, 30)),
    }
    assert told(paid(tables)) == [
        (0, 0, 0, "rank", 10, 90),
        (0, 1, 1, "rank", 10, 90),
        (0, 2, None, "spare", 10, 90),
    ]


def test_spare_has_its_name_from_the_host_map() -> None:
    tables = {
        Jobs: rows(Jobs, job(1, 10, 90, 2)),
        HostMap: rows(
            HostMap,
            {"rank": None, "host": "n1", "gpu_uuid": "GPU-b"},
            {"rank": 0, "host": "n0", "gpu_uuid": "GPU-a"},
        ),
    }
    found = paid(tables).sort("slot")
    assert found.select("role", "host", "gpu_uuid").rows() == [
        ("rank", "n0", "GPU-a"),
        ("spare", "n1", "GPU-b"),
    ]


def test_one_rank_that_logs_does_not_make_the_others_spares() -> None:
    log = rows(StepTimings, step(0, 1, 20, 30))
    tables = {Jobs: rows(Jobs, job(1, 10, 90, 4)), StepTimings: log}
    assert [row[3] for row in told(paid(tables))] == ["rank"] * 4
    layout = {"tp": 1, "cp": 1, "pp": 1, "dp": 3, "ep": 1}
    found = paid({**tables, RunCards: rows(RunCards, layout)})
    assert [row[3] for row in told(found)] == ["rank", "rank", "rank", "spare"]


def test_without_a_job_ranks_are_paid_for_while_the_attempt_was_seen() -> None:
    log = rows(StepTimings, step(0, 1, 20, 30), step(1, 1, 25, 60))
    assert told(paid({StepTimings: log})) == [
        (0, 0, 0, "rank", 20, 60),
        (0, 1, 1, "rank", 20, 60),
    ]


def test_queue_is_not_paid_for() -> None:
    tables: Tables = {Jobs: rows(Jobs, job(1, 10, 20, 1), job(2, 50, 60, 1))}
    assert [row[4:] for row in told(paid(tables))] == [(10, 20), (50, 60)]


def test_reservation_is_paid_for_between_attempts_and_beyond_them() -> None:
    #         10       20        50      60
    # GPU 0   |--- 0 ---| restart |-- 1 --|
    # GPU 1   |- spare -|- spare -| spare |
    tables = {
        Jobs: rows(Jobs, job(1, 10, 20, 1), job(2, 50, 60, 1)),
        RunCards: rows(RunCards, {"billing": "reserved", "reserved_gpus": 2}),
    }
    assert told(paid(tables)) == [
        (0, 0, None, "rank", 10, 20),
        (0, 1, None, "spare", 10, 20),
        (None, 0, None, "restart", 20, 50),
        (None, 1, None, "spare", 20, 50),
        (1, 0, None, "rank", 50, 60),
        (1, 1, None, "spare", 50, 60),
    ]


def test_mean_over_the_run_is_paid_for_as_the_card_says() -> None:
    log = rows(StepTimings, step(None, 1, 20, 30))
    layout = rows(RunCards, {"tp": 2, "cp": 1, "pp": 1, "dp": 1, "ep": 1})
    found = paid({StepTimings: log, RunCards: layout})
    assert told(found) == [
        (0, 0, None, "rank", 20, 30),
        (0, 1, None, "rank", 20, 30),
    ]


def test_trace_without_a_rank_is_paid_for_while_it_lasts() -> None:
    first = {"trace_id": "t", "start_ns": 0, "duration_ns": 10}
    later = {"trace_id": "u", "start_ns": 50, "duration_ns": 20}
    tables: Tables = {Kernels: rows(Kernels, first, later)}
    found = paid(tables).sort("from_ns")
    assert found.select("trace_id", "from_ns", "to_ns").rows() == [
        ("t", 0, 10),
        ("u", 50, 70),
    ]


@pytest.mark.parametrize("gpus", [10**12, -1, 0])
def test_impossible_number_of_gpus_is_unknown(gpus: int) -> None:
    log = rows(StepTimings, step(0, 1, 20, 30))
    tables = {Jobs: rows(Jobs, job(1, 10, 90, gpus)), StepTimings: log}
    assert told(paid(tables)) == [(0, 0, 0, "rank", 10, 90)]


times = st.integers(0, 50)
windows = st.lists(st.tuples(times, times, st.integers(1, 3)), max_size=5)


@pytest.mark.thorough
@settings(max_examples=25, deadline=None)
@given(windows, st.integers(0, 3))
def test_one_gpu_is_never_paid_for_twice_at_once(
    jobs: list[tuple[int, int, int]], reserved: int
) -> None:
    tables = {
        Jobs: rows(Jobs, *[job(n, *one) for n, one in enumerate(jobs)]),
        RunCards: rows(RunCards, {"billing": "reserved", "reserved_gpus": reserved}),
    }
    found = paid(tables).sort("slot", "from_ns")
    next_start = pl.col("from_ns").shift(-1).over("slot")
    assert found.filter(pl.col("to_ns") > next_start).is_empty()


def test_nothing_is_paid_for_without_attempts() -> None:
    assert paid({Attempts: rows(Attempts), Gpus: rows(Gpus), Runs: rows(Runs)}).equals(
        Allocations.create_empty()
    )
