"""Plans and curves of a run by its evidence, against the formulas and by hand."""

from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from analysis._checkpoint_costs import costs_of
from analysis.checkpoint_models import (
    Costs,
    Tier,
    daly,
    exact_ettr,
    exact_interval,
    exact_waste,
    multi_level,
    wrong_mtbf_cost,
    young,
)
from analysis.checkpoint_plans import (
    CheckpointCurves,
    CheckpointPlans,
    plan_checkpoints,
)
from ingest.times import DAY_NS
from tests.analysis.saving import S, evidence

Row = dict[str, Any]

COSTS = Costs(10_000, 50, 300, 100)


def plans_of(**other: Any) -> dict[str, Row]:
    found = plan_checkpoints(evidence(**other))[CheckpointPlans]
    CheckpointPlans.validate(found)
    return {row["method"]: row for row in found.iter_rows(named=True)}


def curve_of(**other: Any) -> pl.DataFrame:
    return CheckpointCurves.validate(
        plan_checkpoints(evidence(**other))[CheckpointCurves]
    )


def test_each_method_is_its_formula() -> None:
    plans = plans_of()
    for method, formula in (
        ("young", young),
        ("daly", daly),
        ("exact", exact_interval),
    ):
        assert plans[method]["interval_ns"] == round(formula(COSTS) * S)
        assert plans[method]["limited_by"] == "cost"
    # Young: sqrt(2 x 50 x 10 000) = 1000 s, a hundred steps of 10 s
    assert plans["young"]["interval_ns"] == 1000 * S
    assert plans["young"]["interval_steps"] == 100
    assert plans["in_use"]["interval_steps"] == 360


def test_waste_and_saving_are_those_of_the_exact_form() -> None:
    plans = plans_of()
    used, best = exact_ettr(3600, COSTS), exact_ettr(exact_interval(COSTS), COSTS)
    assert plans["in_use"]["waste_ratio"] == pytest.approx(1 - used)
    assert plans["in_use"]["saved_gpu_ns_per_day"] == 0
    parts = exact_waste(3600, COSTS)
    assert plans["in_use"]["write_ratio"] == pytest.approx(parts.write)
    assert plans["in_use"]["restart_ratio"] == pytest.approx(parts.restart)
    saved = plans["exact"]["saved_gpu_ns_per_day"]
    assert isinstance(saved, Decimal)
    assert float(saved) == pytest.approx((best - used) * 16 * DAY_NS)
    assert all(plans[m]["saved_gpu_ns_per_day"] <= saved for m in ("young", "daly"))
    wrong = wrong_mtbf_cost(COSTS, 0.5)
    assert plans["exact"]["half_mtbf_ratio"] == pytest.approx(wrong)


def test_the_range_of_the_mtbf_is_the_range_of_the_plan() -> None:
    exact = plans_of()["exact"]
    ends = [Costs(mtbf, 50, 300, 100) for mtbf in (5000, 20_000)]
    assert exact["interval_low_ns"] == round(exact_interval(ends[0]) * S)
    assert exact["interval_high_ns"] == round(exact_interval(ends[1]) * S)
    chosen = exact["interval_ns"] / S
    assert exact["waste_high_ratio"] == pytest.approx(1 - exact_ettr(chosen, ends[0]))
    assert exact["waste_low_ratio"] == pytest.approx(1 - exact_ettr(chosen, ends[1]))
    savings = [
        (exact_ettr(chosen, end) - exact_ettr(3600, end)) * 16 * DAY_NS for end in ends
    ]
    assert float(exact["saved_low_gpu_ns_per_day"]) == pytest.approx(min(savings))
    assert float(exact["saved_high_gpu_ns_per_day"]) == pytest.approx(max(savings))
    unbounded = plans_of(mtbf_high_ns=None)["exact"]
    assert unbounded["interval_high_ns"] is None
    assert unbounded["waste_low_ratio"] is None


def test_only_the_stall_is_a_cost_and_the_flush_is_the_shortest_interval() -> None:
    # stalls 2 s, safe after 1802 s: no save before 1800 s of work are done
    plans = plans_of(stall_ns=2 * S, flush_ns=1802 * S)
    assert exact_interval(Costs(10_000, 2)) < 1800
    assert plans["exact"]["interval_ns"] == 1800 * S
    assert plans["exact"]["limited_by"] == "flush"
    costs = Costs(10_000, 2, 300, 100, lag_s=1800)
    assert (
        costs_of(
            evidence(stall_ns=2 * S, flush_ns=1802 * S).row(0, named=True), 10_000 * S
        )
        == costs
    )
    assert plans["exact"]["waste_ratio"] == pytest.approx(1 - exact_ettr(1800, costs))
    # a stall so short that a step is longer
    short = plans_of(stall_ns=S // 1000)["exact"]
    assert (short["interval_ns"], short["limited_by"]) == (10 * S, "step")


def test_what_is_not_known_is_null_with_its_reason() -> None:
    unseen = plans_of(interval_ns=None, interval_steps=None)
    assert unseen["in_use"]["interval_ns"] is None
    assert "no interval is seen" in unseen["in_use"]["reason"]
    assert unseen["exact"]["interval_ns"] is not None
    assert unseen["exact"]["saved_gpu_ns_per_day"] is None
    blind = plans_of(stall_ns=None, stall_basis="none")
    assert blind["in_use"]["interval_ns"] == 3600 * S
    assert blind["exact"]["interval_ns"] is None
    assert "how long a save takes" in blind["exact"]["reason"]
    nowhere = plans_of(mtbf_ns=None, mtbf_words="nodes of the run are not known")
    assert nowhere["exact"]["reason"].endswith("nodes of the run are not known")
    assert plans_of(gpu_count=None)["exact"]["saved_gpu_ns_per_day"] is None
    free = plans_of(stall_ns=0, step_ns=None)
    assert "costs nothing" in free["exact"]["reason"]
    assert free["in_use"]["waste_ratio"] is not None


def test_caveats_stand_beside_the_numbers() -> None:
    assert plans_of()["exact"]["reason"] is None
    weak = plans_of(mtbf_source="own_weak", mtbf_words="1 interruption: few")
    assert weak["exact"]["reason"] == "1 interruption: few"
    rough = plans_of(restart_basis="none", restart_ns=None, downtime_ns=None)
    assert "left out" in rough["exact"]["reason"]
    held = plans_of(stall_basis="held")["exact"]
    assert "at most" in held["reason"]


def test_two_tiers_are_planned_by_levels() -> None:
    # 1 s to the node, 50 s to the store, which 78 % of interruptions need
    tiers = {"near_stall_ns": S, "far_stall_ns": 50 * S, "tiers_basis": "card"}
    row = plans_of(**tiers)["multi_level"]
    told = multi_level(
        [Tier(10_000 / 0.22, 1, 300, 10), Tier(10_000 / 0.78, 50, 300, 10)]
    )
    assert row["interval_ns"] == round(told.intervals_s[0] * S)
    assert row["far_interval_ns"] == round(told.intervals_s[1] * S)
    useful = (1 - told.waste_ratio) * 10_000 / 10_100
    assert row["waste_ratio"] == pytest.approx(1 - useful)
    assert row["waste_ratio"] < plans_of()["exact"]["waste_ratio"]
    assert "no second tier" in plans_of()["multi_level"]["reason"]
    slower = plans_of(local_gbs=1.0)["multi_level"]
    assert "no less than" in slower["reason"]
    alike = plans_of(**tiers, far_ratio=1.0)["multi_level"]
    assert alike["reason"] == "all interruptions need the same tier"


def test_a_curve_is_least_at_the_best_interval() -> None:
    curve = curve_of()
    least = curve.sort("waste_ratio").row(0, named=True)
    best = plans_of()["exact"]
    assert least["interval_ns"] == pytest.approx(best["interval_ns"], rel=0.1)
    assert least["waste_ratio"] >= best["waste_ratio"] - 1e-12
    assert curve["interval_ns"].is_sorted()
    parts = curve.select(
        pl.sum_horizontal("write_ratio", "rework_ratio", "restart_ratio")
    )
    assert parts.to_series().to_list() == pytest.approx(curve["waste_ratio"].to_list())
    low, high = curve["interval_ns"].min(), curve["interval_ns"].max()
    assert low == round(exact_interval(COSTS) / 12 * S)
    assert high == round(exact_interval(COSTS) * 12 * S)


def test_a_curve_reaches_to_the_interval_in_use_and_not_below_what_can_be() -> None:
    far = curve_of(interval_ns=500_000 * S)["interval_ns"].max()
    assert far == pytest.approx(1_000_000 * S)
    flushed = curve_of(flush_ns=500 * S)["interval_ns"].min()
    assert flushed == 450 * S
    assert curve_of(stall_ns=None, stall_basis="none").is_empty()
