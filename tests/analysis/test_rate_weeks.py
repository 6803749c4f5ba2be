"""Rates by week and by model of GPU over drawn fleets: days after a Monday."""

from typing import Any

import polars as pl
import pytest

from analysis.interrupt_rates import InterruptRates
from ingest.times import DAY_NS
from tests.analysis.failing import attempt, tables, xid

# day   0      5      7      10      14       16
# r     | a b  | a b  :  a b |        :        |    two attempts, down from 10 to 12
#              x 79 on a at 5                        (stop and incident)
# r                          12 | a b : a b    |    runs on until 16
#                                 x 48 on b at 13.5 (an incident that stops nothing)
ATTEMPTS = [
    attempt("r", 0, 0, 5, "a,b"),
    attempt("r", 1, 5, 10, "a,b", state="CANCELLED"),
    attempt("r", 2, 12, 16, "a,b", state="RUNNING", is_running=True),
]
FAILURES = [xid(79, 5, "a"), xid(48, 13.5, "b")]


@pytest.fixture(scope="module")
def rates() -> pl.DataFrame:
    return tables(ATTEMPTS, FAILURES, r="H100")[InterruptRates].collect()


def weeks(rates: pl.DataFrame, level: str, run_id: str | None) -> list[Any]:
    found = rates.filter(
        pl.col("run_id").eq_missing(pl.lit(run_id)),
        level=level,
        scope="week",
        category="all",
        component="all",
    ).sort("scope_id")
    days = found["exposure_ns"].cast(pl.Float64) / DAY_NS
    return list(zip(found["scope_id"], found["count"], days, strict=True))


def test_a_week_has_the_time_that_was_observed_in_it(rates: pl.DataFrame) -> None:
    # nodes: 2 x 7 days, 2 x (3 + 2) days, 2 x 2 days
    told = [("2026-W10", 1, 14), ("2026-W11", 1, 10), ("2026-W12", 0, 4)]
    assert weeks(rates, "incident", None) == told
    # the run's own time
    stops = [("2026-W10", 1, 7), ("2026-W11", 0, 5), ("2026-W12", 0, 2)]
    assert weeks(rates, "interruption", "r") == stops


def test_weeks_and_models_add_up_to_the_cluster(rates: pl.DataFrame) -> None:
    for level in ("line", "event", "incident", "interruption"):
        of_level = rates.filter(
            pl.col("run_id").is_null(), level=level, category="all", component="all"
        )
        sums = {
            scope: rows.select(pl.col("count", "exposure_ns").sum()).row(0)
            for (scope,), rows in of_level.group_by("scope")
        }
        assert sums["week"] == sums["cluster"] == sums["gpu_model"], level


def test_a_stop_at_the_end_of_a_week_is_of_that_week() -> None:
    # the attempt ends as Monday begins: its last ns was on Sunday
    found = tables([attempt("r", 0, 0, 7, "a"), attempt("r", 1, 8, 9, "a")], [])
    told = weeks(found[InterruptRates].collect(), "interruption", "r")
    assert [(week, count) for week, count, _ in told] == [
        ("2026-W10", 1),
        ("2026-W11", 1),
    ]


def test_models_are_told_apart_and_an_untold_one_has_no_row() -> None:
    held = [
        attempt("old", 0, 0, 10, "a", state="COMPLETED"),
        attempt("new", 0, 0, 10, "b,c", state="COMPLETED"),
        attempt("any", 0, 0, 10, "d", state="COMPLETED"),
    ]
    lines = [xid(79, 1, "a"), xid(79, 2, "b"), xid(79, 3, "d")]
    rates = tables(held, lines, old="A100", new="H100")[InterruptRates].collect()
    found = rates.filter(scope="gpu_model", level="incident", category="all")
    whole = found.filter(component="all").sort("scope_id")
    days = whole["exposure_ns"].cast(pl.Float64) / DAY_NS
    assert list(zip(whole["scope_id"], whole["count"], days, strict=True)) == [
        ("A100", 1, 10),
        ("H100", 1, 20),
    ]
