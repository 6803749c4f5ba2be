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


#: Hours from the end of an attempt to the start of the next.
WAIT_H = 0.1


def restarted(swaps: dict[int, str], waits: dict[int, float] | None = None) -> Tables:
    """Ten attempts of a day; every other is stopped by node n1, the rest by software.

    Args:
        swaps: What stands in for n1 in the attempts that do not hold it.
        waits: Hours before an attempt, where that is not WAIT_H.
    """
    held, lines, clock = [], [], 0.0
    for number in range(20):
        clock += (waits or {}).get(number, WAIT_H) / 24
        hosts = f"n0,{swaps.get(number, 'n1')},n2,n3"
        held.append(attempt("r", number, clock, clock + 1, hosts, state="FAILED"))
        if number % 2 == 0 and number not in swaps:
            lines.append(xid(79, clock + 1, "n1"))
        clock += 1
    return tables(held, lines)


def test_nodes_that_the_next_attempt_holds_were_not_waited_for() -> None:
    rows = plan(restarted({}))
    told = rows.row(0, named=True)
    assert (told["repair_basis"], told["repair_ns"]) == ("attempts", 0)
    assert (told["failed_nodes"], told["returned_nodes"]) == (10, 10)
    assert rows.filter("is_best")["spares"].to_list() == [0]
    assert rows["withheld"].null_count() == rows.height


def test_a_run_that_waits_for_its_node_lacks_it() -> None:
    # stops by software take 0.1 h, those by n1 24.1 h: the node is away for a day
    waits = dict.fromkeys(range(1, 20, 2), 24 + WAIT_H)
    told = plan(restarted({}, waits)).row(0, named=True)
    assert told["repair_basis"] == "attempts"
    assert float(told["repair_ns"]) == pytest.approx(24 * HOUR_NS, rel=1e-6)


def test_a_node_is_away_until_an_attempt_holds_it_again() -> None:
    # n1 fails in attempts 0, 4, 8, 12 and 16, and n9 runs in the two that follow
    swaps = {number: "n9" for number in range(20) if number % 4 in (1, 2)}
    told = plan(restarted(swaps)).row(0, named=True)
    assert (told["failed_nodes"], told["returned_nodes"]) == (5, 0)
    # two attempts of a day and three waits, less the usual one
    away = (48 + 2 * WAIT_H) * HOUR_NS
    assert float(told["repair_ns"]) == pytest.approx(away, rel=1e-6)


def test_what_was_seen_goes_before_the_card_and_the_lesser_before_the_greater() -> None:
    found = restarted({})
    card = {"run_id": "r", "reliability_repair_h": 132.0}
    found[RunCards] = rows_of(RunCards, [card])
    assert plan(found)["repair_basis"].unique().to_list() == ["attempts"]
    ended = pl.col("time_ns") + 48 * HOUR_NS
    found[Failures] = found[Failures].with_columns(end_ns=ended)
    assert plan(found)["repair_basis"].unique().to_list() == ["attempts"]


def test_an_assumed_repair_is_no_advice() -> None:
    assert plan(fleet(15))["withheld"].is_not_null().all()
    assert plan(fleet(15, repair_h=48))["withheld"].is_null().all()
