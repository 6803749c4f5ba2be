"""Changes of rates over drawn fleets: times are days after a Monday."""

import numpy as np
import polars as pl
import pytest

from analysis._analysis import Frames
from analysis.rate_changes import ANALYSIS, RateChanges, change_instant, compare_at
from analysis.rate_ratios import rate_ratio
from ingest.errors import SettingError
from ingest.times import DAY_NS
from tests.analysis.failing import MONDAY_NS, Row, Tables, ask, at, attempt, tables, xid

NODES = ",".join(f"n{number}" for number in range(10))

# ten nodes for 28 days in one attempt; 79 once in each of the first two weeks, and
# twelve times in the last week, a node and an hour each
DAYS = [3.5, 10.5, *(21.25 + number / 2 for number in range(12))]


def fleet(days: list[float], length: float = 28) -> Tables:
    held = [attempt("r", 0, 0, length, NODES, state="COMPLETED")]
    lines: list[Row] = [
        xid(79, day, f"n{number % 10}") for number, day in enumerate(days)
    ]
    return tables(held, lines)


def changes(found: Tables, **thresholds: float) -> pl.DataFrame:
    rows = ask(ANALYSIS, found, **thresholds)[RateChanges]
    of_cluster = rows.filter(level="incident", scope="cluster", category="all")
    return of_cluster.sort("comparison", "change_ns")


def test_the_week_that_differs_is_named() -> None:
    found = changes(fleet(DAYS)).filter(comparison="week")
    told = found.select("part", "before_count", "after_count", "verdict").rows()
    assert told == [
        ("2026-W10", 13, 1, "not_told_apart"),
        ("2026-W11", 13, 1, "not_told_apart"),
        ("2026-W12", 14, 0, "not_told_apart"),
        ("2026-W13", 2, 12, "rose"),
    ]
    last = found.row(3, named=True)
    wanted = rate_ratio((2, 210 * DAY_NS), (12, 70 * DAY_NS))
    assert last["rate_ratio"] == pytest.approx(18)  # (12 / 70) / (2 / 210)
    assert last["p_value"] == pytest.approx(wanted.p_value)
    assert last["before_time_ns"] == 210 * DAY_NS
    assert last["after_time_ns"] == 70 * DAY_NS


def test_the_later_half_is_that_of_the_time_observed() -> None:
    # down from day 10 to day 18: half of 20 days of running had passed by day 10
    held = [
        attempt("r", 0, 0, 10, "a", state="CANCELLED"),
        attempt("r", 1, 18, 28, "a", state="COMPLETED"),
    ]
    lines = [xid(79, day, "a") for day in (1, 2, 3, 19, 20)]
    found = changes(tables(held, lines)).filter(comparison="half").row(0, named=True)
    assert found["change_ns"] <= at(18)
    assert (found["before_count"], found["after_count"]) == (3, 2)
    assert found["before_time_ns"] == found["after_time_ns"] == 10 * DAY_NS


def test_a_day_that_is_set_is_asked_about() -> None:
    found = changes(fleet(DAYS), change_day=20260323)
    row = found.filter(comparison="date").row(0, named=True)
    assert (row["part"], row["change_ns"]) == ("2026-03-23", at(21))
    assert (row["before_count"], row["after_count"]) == (2, 12)
    # asked about alone, and not one of many: no correction
    assert row["q_value"] == row["p_value"]
    assert row["verdict"] == "rose"


def test_any_instant_can_be_asked_about() -> None:
    rows = compare_at(Frames(fleet(DAYS)), at(21) + 1)
    found = rows.filter(level="incident", scope="run", category="hardware")
    row = found.row(0, named=True)
    assert (row["before_count"], row["after_count"]) == (2, 12)
    assert row["after_time_ns"] == 70 * DAY_NS - 10


def test_a_date_outside_of_what_was_observed_tells_nothing() -> None:
    assert (
        changes(fleet(DAYS), change_day=20270101).filter(comparison="date").height == 0
    )


def test_below_five_events_nothing_is_tested() -> None:
    found = changes(fleet([1, 2, 22, 23]))
    assert found["verdict"].unique().to_list() == ["not_testable"]
    assert found["p_value"].null_count() == found.height
    assert found["q_value"].null_count() == found.height


def test_causes_are_tested_each() -> None:
    of_network = [xid(74, day, "n1", component="network") for day in (1, 2, 3)]
    found = fleet(DAYS)
    held = [attempt("r", 0, 0, 28, NODES, state="COMPLETED")]
    mixed = tables(held, [*of_network, *(xid(79, day, "n2") for day in DAYS)])
    rows = ask(ANALYSIS, mixed)[RateChanges].filter(scope="cluster", level="incident")
    kinds = rows.filter(part="2026-W13").sort("category")
    told = kinds.select("category", "after_count", "verdict").rows()
    assert told[1:] == [("hardware", 12, "rose"), ("network", 0, "not_testable")]
    assert found.keys() == mixed.keys()


def test_days_are_read_as_they_are_written() -> None:
    assert change_instant(0.0) is None
    assert change_instant(20260302.0) == MONDAY_NS
    with pytest.raises(SettingError, match="20261301 is no day"):
        change_instant(20261301.0)


@pytest.mark.slow
def test_a_constant_rate_seldom_changes() -> None:
    # 300 fleets of a constant rate: at most 5 % name any week or half (95 % bound 8 %)
    random = np.random.default_rng(7)
    named = 0
    for _ in range(300):
        days = sorted(random.uniform(0, 28, random.poisson(20)))
        rows = changes(fleet([float(day) for day in days]))
        named += rows["verdict"].is_in(["rose", "fell"]).any()
    assert named <= 24
