"""Spares that pay, over a drawn fleet and by hand."""

from math import exp

import polars as pl
import pytest

from analysis.spare_plans import ANALYSIS, SparePlans, at_most
from ingest.tables import Failures, RunCards
from ingest.times import DAY_NS
from tests.analysis.failing import Row, Tables, ask, at, attempt, rows_of, tables, xid

HOSTS = [f"n{number:02}" for number in range(50)]
HOUR_NS = DAY_NS // 24


def fleet(failures: int, repair_h: float | None = None) -> Tables:
    """Fifty nodes of eight GPUs for thirty days; some fail, a node each."""
    held = [attempt("r", 0, 0, 30, ",".join(HOSTS), state="COMPLETED")]
    lines: list[Row] = [
        xid(79, 1 + number, HOSTS[number]) for number in range(failures)
    ]
    if repair_h is not None:
        lines = [
            line | {"end_ns": line["time_ns"] + round(repair_h * HOUR_NS)}
            for line in lines
        ]
    return tables(held, lines)


def plan(found: Tables, case: str = "estimate", **thresholds: float) -> pl.DataFrame:
    rows = ask(ANALYSIS, found, **thresholds)[SparePlans]
    return rows.filter(rate_case=case).sort("spares")


def test_numbers_by_hand() -> None:
    # 15 failures in 1,500 node-days: one in two days of the run; a node is away 48 h
    rows = plan(fleet(15, repair_h=48))
    first = rows.row(0, named=True)
    assert first["repair_basis"] == "failures"
    assert first["in_repair"] == pytest.approx(1)
    # without a spare: none is free, and the run waits unless nothing is in repair
    assert first["spare_free_ratio"] == 0
    assert first["waiting_ratio"] == pytest.approx(1 - exp(-1))
    second = rows.row(1, named=True)
    assert second["spare_free_ratio"] == pytest.approx(exp(-1))
    assert second["waiting_ratio"] == pytest.approx(1 - 2 * exp(-1))
    assert second["daily_idle_gpu_ns"] == 8 * DAY_NS
    waiting = (1 - 2 * exp(-1)) * 50 * 8 * DAY_NS
    assert float(second["daily_waiting_gpu_ns"]) == pytest.approx(waiting)


def test_the_best_number_is_the_cheapest() -> None:
    rows = plan(fleet(15, repair_h=48))
    costs = [
        spares * 8 + (1 - at_most(spares, 1.0)) * 400 for spares in range(rows.height)
    ]
    best = rows.filter("is_best")["spares"].to_list()
    assert best == [costs.index(min(costs))] == [3]
    totals = rows["daily_cost_gpu_ns"].cast(pl.Float64) / DAY_NS
    assert totals.to_list() == pytest.approx(costs)


def test_more_failures_need_more_spares() -> None:
    found = fleet(15, repair_h=48)
    best = [
        plan(found, case).filter("is_best")["spares"][0]
        for case in ("low", "estimate", "high")
    ]
    assert best == sorted(best)
    assert best[0] < best[2]


def test_the_card_tells_repairs_and_spares_where_logs_do_not() -> None:
    found = fleet(15)
    card = {"run_id": "r", "reliability_repair_h": 24.0, "reliability_spare_nodes": 2}
    found[RunCards] = rows_of(RunCards, [card])
    rows = plan(found)
    assert rows["repair_basis"].unique().to_list() == ["run_card"]
    assert rows["in_repair"][0] == pytest.approx(0.5)
    assert rows.filter("is_held")["spares"].to_list() == [2]


def test_else_the_setting_is_used_and_named() -> None:
    rows = plan(fleet(15), spare_repair_h=12)
    assert rows["repair_basis"].unique().to_list() == ["setting"]
    assert rows["in_repair"][0] == pytest.approx(0.25)
    assert not rows["is_held"].any()


def test_the_end_of_a_stop_is_no_repair() -> None:
    found = fleet(15)
    stop = {
        "cluster": "pod", "host": "n01", "source": "operator", "code": "x",
        "time_ns": at(1), "end_ns": at(9), "line_count": 1,
    }  # fmt: skip
    found[Failures] = pl.concat(
        [
            found[Failures],
            rows_of(Failures, [stop | {"code": f"{n}"} for n in range(9)]),
        ]
    )
    assert plan(found)["repair_basis"].unique().to_list() == ["setting"]


def test_four_failures_are_too_few_to_plan_with() -> None:
    assert ask(ANALYSIS, fleet(4, repair_h=48))[SparePlans].is_empty()
