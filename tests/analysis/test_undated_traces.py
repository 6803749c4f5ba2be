"""Traces that count from a moment of their own, beside what the calendar dates."""

import polars as pl
import pytest

from analysis._analysis import Frames
from analysis._stops import find_stops, first_new_steps
from analysis.attempts import Attempts, find_attempts
from analysis.lost_time import LostTime
from analysis.placing import CLOCKS_FROM_NS, in_calendar
from ingest.tables import Jobs, Kernels, StepTimings, Table
from ingest.times import SECOND_NS
from tests.analysis.ledgers import Row, booked, job, rows, step

pytestmark = pytest.mark.thorough

T0 = CLOCKS_FROM_NS + 800_000_000 * SECOND_NS
HOUR = 3_600 * SECOND_NS

#: Two jobs, of which the second goes back to step 2.
JOBS = (job(1, T0, T0 + HOUR, 2), job(2, T0 + HOUR, T0 + 2 * HOUR, 2))

#: A step log of two ranks.
LOG = tuple(
    step(rank, number, T0 + at * HOUR // 10, T0 + (at + 1) * HOUR // 10)
    for rank in (0, 1)
    for number, at in ((1, 1), (2, 2), (3, 3), (2, 12), (3, 13))
)


def kernel(rank: int | None, trace: str, start_ns: int, number: int) -> Row:
    timed = {"start_ns": start_ns, "duration_ns": SECOND_NS, "step": number}
    return {"rank": rank, "trace_id": trace} | timed


#: A trace that was cut off before it told its base, and steps of others like it.
UNDATED: dict[type[Table], list[Row]] = {
    Kernels: [kernel(1, "cut", 5, 9), kernel(1, "cut", 5 + SECOND_NS, 1)],
    StepTimings: [
        step(1, 9, 5, 5 + SECOND_NS),
        step(1, 1, 5 + SECOND_NS, 5 + 2 * SECOND_NS),
        step(None, 9, 5, 5 + SECOND_NS, scope="rank"),
    ],
}


def told(*, undated: bool, kernels: tuple[Row, ...], logged: bool) -> Frames:
    more = UNDATED if undated else {Kernels: [], StepTimings: []}
    log = LOG if logged else ()
    return booked(
        {
            Jobs: rows(Jobs, *(JOBS if logged else ())),
            Kernels: rows(Kernels, *kernels, *more[Kernels]),
            StepTimings: rows(StepTimings, *log, *more[StepTimings]),
        }
    )


@pytest.mark.parametrize("logged", [True, False])
def test_they_move_no_attempt_and_no_account(logged: bool) -> None:
    # GIVEN a run with dated evidence: jobs and a log, or traces alone
    dated = tuple(kernel(rank, f"t{rank}", T0, 7) for rank in (0, 1))

    # WHEN traces without a date come to it
    with_them = told(undated=True, kernels=dated, logged=logged)
    without = told(undated=False, kernels=dated, logged=logged)

    # THEN nothing that is placed by the calendar differs
    for table in (Attempts, LostTime):
        found = with_them[table].collect()
        assert found.height
        assert found.equals(without[table].collect()), table.sql_name()


def test_the_first_new_step_is_not_theirs() -> None:
    steps = rows(StepTimings, *LOG, *UNDATED[StepTimings])
    frames = Frames({Jobs: rows(Jobs, *JOBS), StepTimings: steps})
    stops = find_stops(find_attempts(frames))
    assert stops.height
    found = first_new_steps(stops, steps)["first_step_ns"].drop_nulls().to_list()
    assert found == [T0 + 12 * HOUR // 10]


def test_of_a_run_without_others_they_are_all_that_is_known() -> None:
    found = find_attempts(Frames({Kernels: rows(Kernels, *UNDATED[Kernels])}))
    assert found["start_ns"].to_list() == [5]


def test_a_run_is_dated_by_any_of_its_evidence() -> None:
    undated = pl.LazyFrame({"run_id": ["a", "b"], "start_ns": [5, 6]})
    other = pl.LazyFrame({"run_id": ["a"], "start_ns": [T0]})
    assert in_calendar(undated, other).collect().rows() == [("b", 6)]
    assert in_calendar(undated).collect().height == 2
