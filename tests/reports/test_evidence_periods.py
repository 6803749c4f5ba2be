"""Evidence of a run that cannot be of one run."""

from typing import Any

import pytest

from analysis.attempts import Attempts
from analysis.overlap import Overlap
from ingest.tables import StepTimings
from reports import _blind_periods
from reports._section import Scope
from tests.reports.builder import RUN, START, S, framed

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
