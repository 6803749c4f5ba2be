"""Evidence of a run that cannot be of one run."""

from decimal import Decimal
from typing import Any

import pytest

from analysis.attempts import Attempts
from analysis.lost_time import LostTime
from analysis.overlap import Overlap
from analysis.runs import Runs
from ingest.tables import IngestedFiles, StepTimings
from reports import _blind_periods, _coverage_chart, _ledger_days
from reports._runs import listing
from reports._section import Scope
from tests.reports.builder import HOUR, RUN, START, S, framed

DAY = 86_400 * S


def evidence(days: int) -> dict[Any, Any]:
    """A step log of a second, and a trace some days later."""
    step = {"run_id": RUN, "attempt": 0, "step": 0, "start_ns": START}
    trace = {"run_id": RUN, "attempt": 0, "trace_id": "t", "span_ns": S}
    attempt = {"run_id": RUN, "attempt": 0, "start_ns": START, "end_ns": START + S}
    return {
        StepTimings: [step | {"duration_ns": S}],
        Overlap: [trace | {"start_ns": START + days * DAY}],
        Attempts: [attempt],
    }


@pytest.mark.parametrize(
    ("days", "told"), [(45, "44.0\u202fd"), (1826, "5.00\u202fyears")]
)
def test_sources_that_lie_far_apart(days: int, told: str, scope: Scope) -> None:
    spot = _blind_periods.apart(framed(evidence(days)), scope)
    assert spot is not None
    assert spot.how_much == f"traces and step logs of run {RUN} are {told} apart"
    assert "several runs in one folder?" in spot.mend


def test_a_month_may_pass(scope: Scope) -> None:
    assert _blind_periods.apart(framed(evidence(30)), scope) is None
    assert _blind_periods.apart(framed({}), scope) is None


def test_evidence_between_bridges_a_gap(scope: Scope) -> None:
    rows = evidence(50)
    rows[StepTimings] += [
        row | {"start_ns": START + 25 * DAY} for row in rows[StepTimings]
    ]
    assert _blind_periods.apart(framed(rows), scope) is None


def test_traces_without_a_date_are_not_far_apart(scope: Scope) -> None:
    rows = evidence(1)
    rows[Overlap].append(rows[Overlap][0] | {"trace_id": "cut", "start_ns": 5})
    rows[StepTimings].append(rows[StepTimings][0] | {"start_ns": 5})
    assert _blind_periods.apart(framed(rows), scope) is None


def test_a_run_without_a_date_has_no_period(scope: Scope) -> None:
    run = {"run_id": RUN, "has_card": False, "start_ns": 5, "end_ns": S}
    (cells,) = listing(framed({Runs: [run]}), scope).rows
    assert cells[2] == "not known"
    dated = run | {"start_ns": START, "end_ns": START + S}
    (cells,) = listing(framed({Runs: [dated]}), scope).rows
    assert cells[2] != "not known"


def test_no_day_and_no_lane_is_drawn_in_1970(scope: Scope) -> None:
    file = {"source": "kineto", "run_id": RUN, "first_ns": START, "last_ns": START + S}
    undated = file | {"first_ns": 5, "last_ns": S}
    (coverage,) = _coverage_chart.chart(framed({IngestedFiles: [file, undated]}), scope)
    assert coverage.numbers["from_ns"].to_list() == [START]
    assert _coverage_chart.chart(framed({IngestedFiles: [undated]}), scope) == []
    days = ("1970-01-01", "2026-11-18", "2026-11-19")
    paid = [
        {"run_id": RUN, "attempt": 0, "category": "productive", "basis": "steps"}
        | {"day": day, "gpu_ns": Decimal(HOUR)}
        for day in days
    ]
    (chart,) = _ledger_days.chart(framed({LostTime: paid}), scope)
    assert chart.numbers["day"].to_list() == list(days[1:])


def test_traces_outside_attempts_are_in_no_account(scope: Scope) -> None:
    rows = evidence(1)
    inside = rows[Overlap][0] | {"trace_id": "u", "start_ns": START + S // 2}
    rows[Overlap].append(inside)
    spot = _blind_periods.outside(framed(rows), scope)
    assert spot is not None
    assert spot.how_much.startswith("1 of 2 traces outside the attempts")
    assert _blind_periods.outside(framed(rows | {Overlap: [inside]}), scope) is None


def test_an_attempt_that_runs_has_no_end(scope: Scope) -> None:
    rows = evidence(1)
    rows[Attempts] = [row | {"end_ns": None} for row in rows[Attempts]]
    assert _blind_periods.outside(framed(rows), scope) is None
    rows[Attempts] = []
    assert _blind_periods.outside(framed(rows), scope) is not None
