"""What one cause brings about on other nodes. A letter is a node, times are seconds."""

from typing import Any

import polars as pl

from analysis._analysis import Frames
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.incidents import ANALYSIS, Incidents
from ingest.tables import Failures, Table
from ingest.times import SECOND_NS

Row = dict[str, Any]


def failure(at: float, host: str | None, **other: Any) -> Row:
    """GPU of a node fallen off the bus, unless told otherwise."""
    row = {
        "cluster": "pod",
        "host": host,
        "time_ns": round(at * SECOND_NS),
        "source": "xid",
        "code": "79",
        "component": "gpu",
        "severity": "error",
        "line_count": 1,
    }
    return row | other


def cleanup(at: float, host: str) -> Row:
    return failure(at, host, code="45", severity="info")


def watchdog(at: float, host: str | None, waited_s: int = 600) -> Row:
    told = f"Watchdog caught collective operation timeout: ran for {waited_s}000"
    return failure(
        at,
        host,
        source="application",
        code="nccl_watchdog_timeout",
        component="software",
        message=f"{told} milliseconds before timing out.",
    )


def link_down(at: float, host: str) -> Row:
    return failure(at, host, source="nic", code="cable_error", component="network")


def attempt(run_id: str, hosts: str, end: int) -> Row:
    return {
        "run_id": run_id,
        "attempt": 0,
        "cluster": "pod",
        "start_ns": 0,
        "end_ns": end * SECOND_NS,
        "hosts": hosts,
    }


def rows_of(table: type[Table], rows: list[Row]) -> pl.LazyFrame:
    return pl.DataFrame(rows, schema=table.create_empty().schema).lazy()


def find(
    failures: list[Row],
    attempts: list[Row] | None = None,
    gpus: list[Row] | None = None,
) -> pl.DataFrame:
    frames = Frames(
        {
            Failures: rows_of(Failures, failures),
            Attempts: rows_of(Attempts, attempts or []),
            Gpus: rows_of(Gpus, gpus or []),
        }
    )
    return Incidents.validate(ANALYSIS.compute(frames, ANALYSIS.thresholds)[Incidents])


def roots(incidents: pl.DataFrame) -> list[tuple[str, str, str | None]]:
    return list(incidents.select("root_code", "role", "host").iter_rows())


def test_cleanup_on_other_nodes_of_the_run_belongs_to_its_cause() -> None:
    # a  79 at 100     run r on a, b, c
    # b  45 at 130
    # c  45 at 140
    # d  45 at 130     another run: nothing is known of its cause
    attempts = [attempt("r", "a,b,c", 150), attempt("q", "d", 150)]
    lines = [failure(100, "a")] + [
        cleanup(at, host) for at, host in ((130, "b"), (140, "c"), (130, "d"))
    ]
    incidents = find(lines, attempts)
    assert roots(incidents) == [("79", "root", "a"), ("45", "cascade", "d")]
    assert incidents["host_count"].to_list() == [3, 1]
    assert incidents["last_ns"][0] == 140 * SECOND_NS


def test_a_watchdog_on_every_node_is_one_symptom() -> None:
    attempts = [attempt("r", "a,b,c", 2000)]
    incidents = find([watchdog(1000 + n, "abc"[n]) for n in range(3)], attempts)
    assert roots(incidents) == [("nccl_watchdog_timeout", "symptom", None)]
    assert incidents.select("category", "host_count").row(0) == ("unattributed", 3)


def test_a_watchdog_belongs_to_the_failure_that_it_waited_for() -> None:
    # a  79 at 400, silent afterwards
    # b  watchdog at 1000 that had waited for 600 s, c the same
    attempts = [attempt("r", "a,b,c", 2000)]
    lines = [failure(400, "a"), watchdog(1000, "b"), watchdog(1001, "c")]
    incidents = find(lines, attempts)
    assert roots(incidents) == [("79", "root", "a")]
    assert incidents["events"].to_list() == [3]


def test_a_watchdog_does_not_belong_to_what_had_long_ended() -> None:
    attempts = [attempt("r", "a,b", 9000)]
    incidents = find([failure(400, "a"), watchdog(8000, "b")], attempts)
    assert len(roots(incidents)) == 2


def test_a_watchdog_without_a_node_is_held_against_the_cluster() -> None:
    incidents = find([failure(400, "a"), watchdog(1000, None)])
    assert roots(incidents) == [("79", "root", "a")]


def test_ports_that_fail_together_under_one_switch_are_one_incident() -> None:
    # leaf1: a b    leaf2: c        all links fail at about 100 s
    gpus = [
        {"run_id": "r", "attempt": 0, "host": host, "switch": switch}
        for host, switch in (("a", "leaf1"), ("b", "leaf1"), ("c", "leaf2"))
    ]
    lines = [link_down(100, "a"), link_down(101, "b"), link_down(102, "c")]
    incidents = find(lines, gpus=gpus)
    assert roots(incidents) == [
        ("cable_error", "root", None),
        ("cable_error", "root", "c"),
    ]
    assert incidents["category"].unique().to_list() == ["network"]
