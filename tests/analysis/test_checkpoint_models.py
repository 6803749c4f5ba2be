"""Formulas of checkpoints: published tables, their laws, and a simulation beside."""

import csv
import re
from itertools import product
from math import e, exp, inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis._checkpoint_simulation import simulate_ettr
from analysis.checkpoint_models import (
    CANNOT,
    ROUGH,
    WITHIN,
    Costs,
    daly,
    daly_period,
    ettr_closed_form,
    exact_ettr,
    exact_interval,
    exact_period,
    exact_waste,
    expected_rework,
    first_order_waste,
    interval_waste,
    rfo,
    saxena,
    wrong_mtbf_cost,
    young,
)
from ingest.errors import SettingError

#: RSC-1 of arXiv 2410.21680: 6.5 failures of 1000 node-days, 16,384 GPUs on 2048 nodes.
RATE, NODES = 6.5e-3, 2048
MTBF_S = 86_400 / (NODES * RATE)

PERIODS = {"daly": daly_period, "rfo": rfo, "opt": exact_period}


def costs_of() -> st.SearchStrategy[Costs]:
    return st.builds(
        Costs,
        mtbf_s=st.floats(600, 3e6),
        stall_s=st.floats(0.1, 1200),
        restart_s=st.floats(0, 1200),
        downtime_s=st.floats(0, 3600),
        lag_s=st.floats(0, 600),
    )


def test_periods_of_the_published_table(shared: Path) -> None:
    # Aupy, Robert and Vivien, table 2; OPT is printed with its solver's noise
    rows = (shared / "expected" / "failures.tsv").read_text().splitlines()
    told = re.compile(r"checkpoint period s, (\w+), mu=(\d+) C=(\d+) R=(\d+) D=(\d+)")
    seen = 0
    for row in csv.DictReader(rows, delimiter="\t"):
        if found := told.match(row["statistic"]):
            mtbf, stall, restart, down = map(float, found.groups()[1:])
            period = PERIODS[found[1]](Costs(mtbf, stall, restart, down))
            published = float(row["published_value"])
            near = 1.0 if row["status"] == "exact" else 2e-3 * published
            assert period == pytest.approx(published, abs=near)
            assert period == pytest.approx(float(row["computed_value"]), abs=0.06)
            seen += 1
    assert seen == 30


@pytest.mark.parametrize(("minutes", "published"), [(60, 0.676), (5, 0.931)])
def test_the_published_ettr(minutes: int, published: float) -> None:
    # arXiv 2410.21680 prints 0.7 and 0.93, u0 = 5 min: (1 - N r (u0 + T/2))
    told = ettr_closed_form(NODES, RATE, 300, minutes * 60)
    assert told.ratio is not None
    assert round(told.ratio, 3) == published


def test_the_exact_ettr_at_an_hour_by_hand() -> None:
    # M = 6490.4 s, R = 300 s: 3600 / (6490.4 x e^0.04622 x (e^0.55466 - 1)) = 0.714
    assert exact_ettr(3600, Costs(MTBF_S, 0, 300)) == pytest.approx(0.7144, abs=5e-5)


def test_no_progress_is_not_a_negative_ratio() -> None:
    # N r (u0 + T/2) = 1 at T = 2 (M - u0)
    edge = 2 * (MTBF_S - 300)
    told = ettr_closed_form(NODES, RATE, 300, edge)
    assert (told.ratio, told.verdict) == (None, CANNOT)
    assert told.load == pytest.approx(1)
    before = ettr_closed_form(NODES, RATE, 300, edge * 0.999)
    assert before.ratio is not None
    assert 0 < before.ratio < 0.01


def test_a_queue_makes_the_run_longer_only() -> None:
    # a failure each 6490.4 s of running, and half as long in the queue after it
    plain = ettr_closed_form(NODES, RATE, 300, 300)
    queued = ettr_closed_form(NODES, RATE, 300, 300, queue_s=MTBF_S / 2)
    assert plain.ratio is not None
    assert queued.ratio == pytest.approx(plain.ratio / 1.5)


@given(st.floats(1e-4, 0.1), st.floats(0.01, 1), st.floats(0, 0.001))
def test_the_closed_form_is_within_1_percent_of_the_exact_one(
    load: float, share: float, stalled: float
) -> None:
    # load = (u0 + T/2) / M, share of it is T/2; the stall is short beside both
    interval = 2 * load * share * MTBF_S
    restart = load * (1 - share) * MTBF_S
    stall = stalled * interval
    told = ettr_closed_form(NODES, RATE, restart, interval, stall_s=stall)
    assert told.verdict == WITHIN
    exact = exact_ettr(interval, Costs(MTBF_S, stall, restart))
    assert told.ratio == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize(
    ("stall", "queue", "verdict"),
    [(17_280, 0, ROUGH), (3456, 0, ROUGH), (0, 0, WITHIN), (0, 8640, WITHIN)],
)
def test_a_verdict_is_that_of_the_exact_form(
    stall: float, queue: float, verdict: str
) -> None:
    # a failure a day and a fifth of one between saves: the load is 0.1 whatever a save
    # takes, but failures hit stalls, too
    told = ettr_closed_form(1, 1.0, 0, 17_280, stall_s=stall, queue_s=queue)
    exact = exact_ettr(17_280, Costs(86_400, stall, 0, queue))
    assert told.load == pytest.approx(0.1)
    assert told.verdict == verdict
    assert (told.ratio == pytest.approx(exact, rel=0.01)) == (verdict == WITHIN)


def test_without_failures_both_forms_are_one() -> None:
    told = ettr_closed_form(1, 0.0, 300, 3600, stall_s=360)
    assert told.ratio == pytest.approx(3600 / 3960)
    assert told.verdict == WITHIN


@pytest.mark.parametrize(
    ("minutes", "restart", "stall", "down"),
    list(product((5, 20, 60, 180), (0, 300, 1200), (0, 60), (0, 600))),
)
def test_the_simulation_agrees_with_the_exact_form(
    minutes: int, restart: int, stall: int, down: int
) -> None:
    costs = Costs(MTBF_S, stall, restart, down)
    drawn = simulate_ettr(minutes * 60, costs, 20_000, seed=minutes + restart)
    assert abs(drawn.ratio - exact_ettr(minutes * 60, costs)) < 3 * drawn.error


def test_a_save_that_is_safe_later_loses_that_much_more() -> None:
    # flush 300 s, stall 20 s: each failure undoes 280 s more, about 280 / M
    blocking, later = Costs(50_000, 20), Costs(50_000, 20, lag_s=280)
    drawn = simulate_ettr(1800, later, 100_000, seed=1)
    assert abs(drawn.ratio - exact_ettr(1800, later)) < 3 * drawn.error
    more = exact_waste(1800, later).rework - exact_waste(1800, blocking).rework
    assert more == pytest.approx(280 / 50_000, rel=0.05)


def test_shares_by_hand() -> None:
    # P = M = 1000 s: a segment fails e - 1 times; each undoes M - P / (e - 1) and
    # costs D and R, with e^(R/M) - 1 failures in R; T is 900 s of the whole
    costs = Costs(1000, 100, 500, 50)
    whole = 1050 * exp(0.5) * (e - 1)
    waste = exact_waste(900, costs)
    assert exact_ettr(900, costs) == pytest.approx(900 / whole)
    assert waste.write == pytest.approx(100 / whole)
    undone = (e - 1) * expected_rework(1000, 1000)
    assert waste.rework == pytest.approx(undone / whole)
    assert waste.restart == pytest.approx((e - 1) * (1050 * exp(0.5) - 1000) / whole)


@given(costs_of(), st.floats(0.05, 20))
def test_the_exact_interval_wastes_least(costs: Costs, factor: float) -> None:
    best = exact_interval(costs)
    least = interval_waste(best, costs)
    assert least <= interval_waste(best * factor, costs) + 1e-9


@given(costs_of(), st.floats(0.05, 20))
def test_each_form_is_the_minimum_of_its_own_waste(costs: Costs, factor: float) -> None:
    if costs.restart_s + costs.downtime_s < costs.mtbf_s / 2:
        best = rfo(costs)
        least = first_order_waste(best, costs)
        assert least <= first_order_waste(best * factor, costs) + 1e-9
    stall, away = costs.stall_s, costs.restart_s + costs.downtime_s

    def available(period: float) -> float:
        return (1 - stall / period) / (costs.mtbf_s + away + period / 2)

    assert available(saxena(costs)) >= available(saxena(costs) * factor) - 1e-12


@given(costs_of(), st.floats(1, 1e5))
def test_shares_add_up_to_the_whole(costs: Costs, interval: float) -> None:
    waste = exact_waste(interval, costs)
    assert min(waste) >= 0
    assert waste.total + exact_ettr(interval, costs) == pytest.approx(1)


@given(st.floats(1e-3, 1e6))
def test_rework_is_half_a_short_period_and_at_most_the_mtbf(period: float) -> None:
    lost = expected_rework(period, 6000.0)
    assert 0 < lost <= min(period / 2, 6000.0)
    assert expected_rework(1e-3, 6000.0) == pytest.approx(5e-4)
    assert expected_rework(1e9, 6000.0) == 6000.0


def test_short_stalls_let_all_forms_agree() -> None:
    costs = Costs(1e6, 1e-3)
    assert young(costs) == pytest.approx(44.72, abs=0.01)
    for form in (daly, daly_period, exact_period, exact_interval, saxena, rfo):
        assert form(costs) == pytest.approx(young(costs), rel=1e-4)


def test_at_the_ends() -> None:
    assert exact_period(Costs(3600)) == 0
    assert exact_ettr(0, Costs(3600)) == 1
    assert exact_ettr(600, Costs(inf, 60)) == pytest.approx(600 / 660)
    assert sum(exact_waste(600, Costs(inf, 60))) == pytest.approx(60 / 660)
    assert exact_ettr(1e9, Costs(3600)) == 0
    assert exact_waste(1e9, Costs(3600)).total == 1
    assert daly(Costs(100, 300)) == 100
    assert rfo(Costs(100, 10, 100)) == inf
    assert saxena(Costs(3600, 10), detection_s=1e5) == 1e5


def test_a_wrong_mtbf_costs_little_near_and_much_far() -> None:
    # the optimum is flat: half or twice the MTBF cost about the same
    costs = Costs(11_135, 300, 600)
    assert wrong_mtbf_cost(costs, 1) == 0
    assert wrong_mtbf_cost(costs, 0.5) == pytest.approx(0.0112, abs=2e-4)
    assert wrong_mtbf_cost(costs, 2) == pytest.approx(0.0112, abs=2e-4)
    assert wrong_mtbf_cost(costs, 10) > 5 * wrong_mtbf_cost(costs, 2)


@pytest.mark.parametrize("bad", [(0, 1), (-1, 1), (100, -1), (100, float("nan"))])
def test_impossible_costs_are_refused(bad: tuple[float, float]) -> None:
    with pytest.raises(SettingError, match="finite and not negative"):
        Costs(*bad)
