"""Rates over drawn fleets: one letter is a node, times are days."""

from typing import Any

import polars as pl
import pytest

from analysis._analysis import Frames
from analysis.attempts import Attempts
from analysis.incidents import ANALYSIS as INCIDENTS
from analysis.interrupt_rates import ANALYSIS, InterruptRates
from analysis.interruptions import ANALYSIS as INTERRUPTIONS
from ingest.tables import Failures, Table
from ingest.times import DAY_NS

Row = dict[str, Any]


def xid(code: int, at: float | None, host: str, **other: Any) -> Row:
    row = {
        "cluster": "pod",
        "host": host,
        "time_ns": None if at is None else round(at * DAY_NS),
        "source": "xid",
        "code": str(code),
        "component": "gpu",
        "severity": "fatal",
        "line_count": 1,
    }
    return row | other


def attempt(run_id: str, start: int, end: int, hosts: str, state: str) -> Row:
    return {
        "run_id": run_id,
        "attempt": start // 10,
        "cluster": "pod",
        "state": state,
        "start_ns": start * DAY_NS,
        "end_ns": end * DAY_NS,
        "is_running": state == "RUNNING",
        "hosts": hosts,
    }


def rows_of(table: type[Table], rows: list[Row]) -> pl.LazyFrame:
    return pl.DataFrame(rows, schema=table.create_empty().schema).lazy()


def rate(attempts: list[Row], failures: list[Row]) -> pl.DataFrame:
    tables: dict[type[Table], pl.LazyFrame] = {
        Attempts: rows_of(Attempts, attempts),
        Failures: rows_of(Failures, failures),
    }
    for one in (INCIDENTS, INTERRUPTIONS):
        found = one.compute(Frames(tables), one.thresholds)
        tables |= {table: frame.lazy() for table, frame in found.items()}
    rates = ANALYSIS.compute(Frames(tables), {})[InterruptRates]
    keys = rates.select(InterruptRates.key)
    assert keys.n_unique() == keys.height
    return InterruptRates.validate(rates)


def cell(rates: pl.DataFrame, level: str, scope_id: str, category: str = "all") -> Row:
    is_wanted = (
        (pl.col("level") == level)
        & (pl.col("scope_id") == scope_id)
        & (pl.col("category") == category)
        & (pl.col("component") == "all")
    )
    return rates.row(by_predicate=is_wanted, named=True)


# day   0         10        20
# r     | a b     | a b     |      stops at day 10 by 79 on a, still runs at day 20
# q     | c  |                     done at day 5; 48 on c at day 2, two lines
# d                                in no run; 79 at day 3
ATTEMPTS = [
    attempt("r", 0, 10, "a,b", "NODE_FAIL"),
    attempt("r", 10, 20, "a,b", "RUNNING"),
    attempt("q", 0, 5, "c", "COMPLETED"),
]
FAILURES = [
    xid(79, 10, "a"),
    xid(48, 2, "c", component="gpu_memory", line_count=2),
    xid(79, 3, "d"),
]


def test_a_cluster_is_counted_against_the_time_of_its_nodes() -> None:
    found = cell(rate(ATTEMPTS, FAILURES), "incident", "pod")
    assert (found["count"], found["outside_count"]) == (2, 1)
    assert found["exposure_ns"] == 45 * DAY_NS  # 2 nodes x 20 days + 5 days
    assert found["mtbf_ns"] == 45 * DAY_NS // 2
    assert found["per_1000_node_days"] == pytest.approx(2 / 45 * 1000)
    assert (found["period_start_ns"], found["period_end_ns"]) == (0, 20 * DAY_NS)


def test_a_run_is_counted_against_its_own_time() -> None:
    found = cell(rate(ATTEMPTS, FAILURES), "interruption", "r")
    assert (found["count"], found["mtbf_ns"]) == (1, 20 * DAY_NS)
    assert found["node_time_ns"] == 40 * DAY_NS
    assert found["per_1000_node_days"] == pytest.approx(1 / 40 * 1000)
    # One event: the mean of the count lies between 0.0253 and 5.5716.
    assert float(found["mtbf_low_ns"]) == pytest.approx(20 * DAY_NS / 5.5716, rel=1e-4)
    assert float(found["mtbf_high_ns"]) == pytest.approx(
        20 * DAY_NS / 0.025318, rel=1e-4
    )


def test_a_node_is_counted_where_it_failed() -> None:
    rates = rate(ATTEMPTS, FAILURES)
    assert cell(rates, "incident", "a")["exposure_ns"] == 20 * DAY_NS
    assert cell(rates, "interruption", "a")["count"] == 1
    assert rates.filter(pl.col("scope_id") == "b").is_empty()


def test_every_level_is_told() -> None:
    rates = rate(ATTEMPTS, FAILURES)
    counts = [
        cell(rates, level, "q")["count"]
        for level in ("line", "event", "incident", "interruption")
    ]
    assert counts == [2, 1, 1, 0]


def test_causes_add_up_to_the_sum() -> None:
    rates = rate(ATTEMPTS, FAILURES)
    of_cluster = rates.filter(
        (pl.col("scope") == "cluster") & (pl.col("level") == "incident")
    )
    for name in ("count", "outside_count"):
        by_component = of_cluster.filter(pl.col("component") != "all")[name].sum()
        total = cell(rates, "incident", "pod")[name]
        assert by_component == total


def test_where_nothing_stopped_the_mean_is_only_known_to_be_long() -> None:
    found = cell(rate(ATTEMPTS, FAILURES), "interruption", "q")
    assert (found["count"], found["mtbf_ns"], found["mtbf_high_ns"]) == (0, None, None)
    assert float(found["mtbf_low_ns"]) == pytest.approx(5 * DAY_NS / 3.68888, rel=1e-5)
    assert found["per_1000_node_days"] == 0


def test_silence_of_logs_that_were_never_read_is_no_evidence() -> None:
    rates = rate(ATTEMPTS, [])
    assert rates["level"].unique().to_list() == ["interruption"]


def test_without_attempts_there_are_counts_alone() -> None:
    found = cell(rate([], [*FAILURES, xid(79, None, "d")]), "event", "pod")
    assert (found["count"], found["outside_count"]) == (4, 0)
    assert found["exposure_basis"] == "none"
    assert found["exposure_ns"] is None
    assert found["mtbf_low_ns"] is None
    assert found["period_end_ns"] == 10 * DAY_NS


def test_what_was_meant_has_a_row_of_its_own() -> None:
    stops = [
        attempt("r", 0, 10, "a", "CANCELLED"),
        attempt("r", 10, 20, "a", "RUNNING"),
    ]
    rates = rate(stops, [])
    assert cell(rates, "interruption", "r")["count"] == 0
    assert cell(rates, "interruption", "r", "planned")["count"] == 1


def test_what_only_notices_tell_of_is_no_part_of_the_sum() -> None:
    rates = rate(ATTEMPTS, [xid(45, 1, "a", severity="info")])
    assert cell(rates, "incident", "pod")["count"] == 0
    assert cell(rates, "incident", "pod", "notice")["count"] == 1
    assert cell(rates, "event", "pod", "cascade")["count"] == 1


def test_an_incident_on_two_runs_is_one_of_the_cluster() -> None:
    # 79 at the end of r and, a minute later, at the start of q on the same node
    held = [attempt("r", 0, 1, "a", "NODE_FAIL"), attempt("q", 1, 2, "a", "RUNNING")]
    minute = 1 / 1440
    lines = [xid(79, 1 - minute, "a"), xid(79, 1 + minute, "a")]
    rates = rate(held, lines)
    assert cell(rates, "incident", "pod")["count"] == 1
    assert [cell(rates, "incident", run)["count"] for run in "rq"] == [1, 1]
