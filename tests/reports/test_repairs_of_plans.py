"""Repairs that other analyses found: intervals, lemon nodes, the data feed."""

from typing import Any

import pytest

from analysis.checkpoint_plans import CheckpointPlans
from analysis.data_feed import DataFeedViolations
from analysis.interruptions import Interruptions
from analysis.lemon_nodes import LemonNodes
from analysis.loss_phases import LossPhases
from analysis.lost_time import LostTime
from reports import (
    _ledger,
    _repair_feed,
    _repair_nodes,
    _repair_saves,
    _repair_stops,
)
from reports._repair import Repair
from reports._section import Scope
from tests.reports.builder import HOUR, RUN, Row, framed

#: 100 GPU-hours: 8 in stalls of saves, 3 done again.
PAID = [
    {"run_id": RUN, "attempt": 0, "day": "2026-11-18", "basis": "step_parts"}
    | {"category": account, "gpu_ns": hours * HOUR}
    for account, hours in (
        ("productive", 89),
        ("checkpoint_stall", 8),
        ("recompute", 3),
    )
]


def found(module: Any, call: str, rows: dict[Any, list[Row]], scope: Scope) -> Any:
    frames = framed({LostTime: PAID, **rows})
    repairs = getattr(module, call)(_ledger.by_run(frames, scope), frames, scope)
    return [(said(one), float(one.saves.usd)) for one in repairs]


def said(one: Repair) -> str:
    return one.what.replace("\u202f", " ")


def plan(method: str, interval: int, waste: float) -> Row:
    row = {"run_id": RUN, "method": method, "interval_ns": interval * 60 * 10**9}
    return row | {"waste_ratio": waste}


@pytest.mark.parametrize(
    ("interval", "waste", "usd"),
    [
        (60, 0.06, 2.5 * 4),  # a tenth less four hundredths of 100 GPU-hours
        (60, 0.01, 2.5 * 8),  # no more than what stalls took
        (5, 0.05, 2.5 * 3),  # shorter: no more than what was done again
    ],
)
def test_a_better_interval_saves_no_more_than_it_changes(
    scope: Scope, interval: int, waste: float, usd: float
) -> None:
    plans = [plan("in_use", 10, 0.10), plan("exact", interval, waste)]
    (one,) = found(_repair_saves, "intervals", {CheckpointPlans: plans}, scope)
    assert one[0].startswith("save every ")
    assert one[0].endswith(", not every 10.0 min")
    assert one[1] == pytest.approx(usd)


def test_gpus_in_reserve_save_nothing_and_a_cap_is_told(scope: Scope) -> None:
    reserve = PAID[0] | {"category": "unallocated", "gpu_ns": 50 * HOUR}
    plans = [plan("in_use", 10, 0.10), plan("exact", 60, 0.06)]
    rows = {LostTime: [*PAID, reserve], CheckpointPlans: plans}
    assert found(_repair_saves, "intervals", rows, scope)[0][1] == 2.5 * 4
    frames = framed(rows)
    (one,) = _repair_saves.intervals(_ledger.by_run(frames, scope), frames, scope)
    assert one.confidence == "good"
    frames = framed({LostTime: PAID, CheckpointPlans: [plans[0], plan("exact", 60, 0)]})
    (one,) = _repair_saves.intervals(_ledger.by_run(frames, scope), frames, scope)
    assert one.confidence == "no more than the stalls that were seen took"


def test_an_interval_that_is_good_is_left_alone(scope: Scope) -> None:
    plans = [plan("in_use", 10, 0.0500), plan("exact", 11, 0.0495)]
    assert found(_repair_saves, "intervals", {CheckpointPlans: plans}, scope) == []
    assert found(_repair_saves, "intervals", {CheckpointPlans: plans[1:]}, scope) == []
    assert found(_repair_saves, "intervals", {}, scope) == []


def test_an_interval_that_is_no_advice_is_no_repair(scope: Scope) -> None:
    best = plan("exact", 60, 0.04) | {"withheld": "it may lose"}
    plans = [plan("in_use", 10, 0.10), best]
    assert found(_repair_saves, "intervals", {CheckpointPlans: plans}, scope) == []
    young = plan("young", 50, 0.05)
    rows: dict[Any, list[Row]] = {CheckpointPlans: [*plans, young]}
    (one,) = found(_repair_saves, "intervals", rows, scope)
    assert one[0].startswith("save every 50.0 min")


def test_a_lemon_saves_what_it_lost_beyond_the_others(scope: Scope) -> None:
    # 8 failures where 2 are expected: three quarters of its 2 GPU-hours
    row = {"cluster": "pod-a", "host": "node-7", "failures": 8, "expected": 2.0}
    row |= {"p_value": 1e-6, "is_lemon": True, "lost_gpu_ns": 2 * HOUR, "run_id": RUN}
    (one,) = found(_repair_nodes, "lemons", {LemonNodes: [row]}, scope)
    assert one == ("replace node node-7: 8 failures, 2.0 expected", 2.5 * 1.5)
    much = row | {"lost_gpu_ns": 2000 * HOUR}  # no more than was done again
    (one,) = found(_repair_nodes, "lemons", {LemonNodes: [much]}, scope)
    assert one[1] == 2.5 * 3
    healthy = row | {"is_lemon": False}
    assert found(_repair_nodes, "lemons", {LemonNodes: [healthy]}, scope) == []


def test_a_feed_saves_the_work_that_it_took_for_nothing(scope: Scope) -> None:
    fault = {"run_id": RUN, "attempt": 0, "kind": "given_twice"}
    rows = [
        fault | {"step": 40, "gpu_ns": HOUR},
        fault | {"step": 30, "gpu_ns": None},
    ]
    (one,) = found(_repair_feed, "feeds", {DataFeedViolations: rows}, scope)
    assert one == (
        "give each sample once: 2 faults of the data feed, the first in step 30",
        2.5,
    )
    assert found(_repair_feed, "feeds", {DataFeedViolations: rows[1:]}, scope) == []
    (told,) = _repair_feed.uncosted(framed({DataFeedViolations: rows}), scope)
    assert "1 fault of the data feed cost no known time" in told


def test_preventing_stops_saves_what_their_phases_cost(scope: Scope) -> None:
    # restart holds 10 GPU-hours, of which 6 are of the stop and 4 of the first start
    stop = {"run_id": RUN, "attempt": 0, "stop": 0, "planned": False}
    phase = {"run_id": RUN, "attempt": 0, "account": "restart", "planned": False}
    rows = {
        LostTime: [*PAID, PAID[0] | {"category": "restart", "gpu_ns": 10 * HOUR}],
        Interruptions: [stop | {"category": "hardware"}],
        LossPhases: [
            phase | {"stop": 0, "phase": "detect", "gpu_ns": 6 * HOUR},
            phase | {"stop": None, "phase": "first_start", "gpu_ns": 4 * HOUR},
        ],
    }
    one, shorter = found(_repair_stops, "broken", rows, scope)
    said = "claim the 1 interruption that points at the provider (1 by hardware)"
    assert one == (said, 2.5 * 6)
    said = "end a stopped attempt sooner: detect is 100 % of what 1 interruption cost"
    assert shorter == (said, 2.5 * 6)
    # without phases the accounts bound it: 10 of restart, 3 done again
    (one,) = found(_repair_stops, "broken", rows | {LossPhases: []}, scope)
    assert one[1] == 2.5 * 13


def test_stops_are_told_by_who_acts_and_add_up(scope: Scope) -> None:
    kinds = ["hardware", "network", "software", "software", "user", "unattributed"]
    key = [{"run_id": RUN, "attempt": 0, "stop": one} for one in range(len(kinds))]
    told = zip(key, kinds, strict=True)
    rows = {
        LostTime: [*PAID, PAID[0] | {"category": "restart", "gpu_ns": 10 * HOUR}],
        Interruptions: [
            one | {"planned": False, "category": kind} for one, kind in told
        ],
        LossPhases: [
            one
            | {"account": "restart", "planned": False}
            | {"phase": phase, "gpu_ns": gpu_ns}
            for one in key
            for phase, gpu_ns in (("requeue", HOUR), ("start", HOUR // 2))
        ],
    }
    assert sorted(found(_repair_stops, "broken", rows, scope)) == [
        (
            (
                "claim the 2 interruptions that point at the provider"
                " (1 by hardware and 1 by network)"
            ),
            2.5 * 3,
        ),
        ("find what stopped the run once: no log explains it", 2.5 * 1.5),
        ("fix the application that stopped the run once", 2.5 * 1.5),
        ("fix the software that stopped the run 2 times", 2.5 * 3),
        (
            (
                "have nodes ready for a restart: requeue is 66.7 % of what"
                " 6 interruptions cost"
            ),
            2.5 * 6,
        ),
    ]
