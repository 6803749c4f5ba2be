"""Observed time of drawn fleets: one letter is a node, times are days."""

from typing import Any

import polars as pl

from analysis._exposure import exposures
from analysis._held_nodes import held_nodes
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.runs import Runs
from ingest.tables import Table
from ingest.times import DAY_NS

Row = dict[str, Any]


def attempt(run_id: str, start: int, end: int, **other: Any) -> Row:
    row = {
        "run_id": run_id,
        "attempt": start,
        "cluster": "pod",
        "start_ns": start * DAY_NS,
        "end_ns": end * DAY_NS,
    }
    return row | other


def rows_of(table: type[Table], rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=table.create_empty().schema)


def observe(attempts: list[Row], *, gpus_per_node: int | None = 8) -> pl.DataFrame:
    rows = rows_of(Attempts, attempts)
    nodes = held_nodes(rows.lazy(), Gpus.create_empty().lazy()).collect()
    runs = [
        {"run_id": run_id, "gpus_per_node": gpus_per_node}
        for run_id in rows["run_id"].unique()
    ]
    return exposures(rows, nodes, rows_of(Runs, runs))


def days(found: pl.DataFrame, scope_id: str, *, on_nodes: bool) -> Any:
    """Exposure and node-time in days, None where there is no row."""
    rows = found.filter(
        (pl.col("scope_id") == scope_id) & (pl.col("on_nodes") == on_nodes)
    )
    if rows.is_empty():
        return None
    times = rows.select("exposure_ns", "node_time_ns").row(0)
    return tuple(None if time is None else time / DAY_NS for time in times)


def test_a_run_has_its_own_time_and_that_of_its_nodes() -> None:
    # r: a b for days 0 to 10, a for days 12 to 20
    found = observe([attempt("r", 0, 10, hosts="a,b"), attempt("r", 12, 20, hosts="a")])
    assert days(found, "r", on_nodes=True) == (18, 28)
    assert days(found, "pod", on_nodes=True) == (28, 28)
    assert days(found, "a", on_nodes=True) == (18, 18)


def test_a_node_that_two_runs_share_is_observed_once() -> None:
    # a is held by r on days 0 to 10 and by q on days 5 to 15
    found = observe([attempt("r", 0, 10, hosts="a"), attempt("q", 5, 15, hosts="a")])
    assert days(found, "pod", on_nodes=True) == (15, 15)
    assert days(found, "q", on_nodes=True) == (10, 10)


def test_nodes_may_be_counted_where_they_are_not_named() -> None:
    # 20 GPUs, 8 to a node, are three nodes
    sized = [attempt("r", 0, 10, gpu_count=20)]
    found = observe(sized)
    assert days(found, "pod", on_nodes=False) == (30, 30)
    assert days(found, "r", on_nodes=False) == (10, 30)


def test_what_nodes_tell_of_is_not_observed_where_they_are_not_named() -> None:
    found = observe([attempt("r", 0, 10, gpu_count=20)])
    assert days(found, "pod", on_nodes=True) is None
    assert days(found, "r", on_nodes=True) is None


def test_node_time_is_unknown_where_some_nodes_cannot_be_counted() -> None:
    mixed = [attempt("r", 0, 10, hosts="a"), attempt("r", 10, 20, gpu_count=8)]
    found = observe(mixed, gpus_per_node=None)
    assert days(found, "pod", on_nodes=False) == (None, None)
    assert days(found, "r", on_nodes=False) == (20, None)
    assert days(found, "r", on_nodes=True) == (10, 10)


def test_named_and_counted_nodes_add_up() -> None:
    mixed = [attempt("r", 0, 10, hosts="a"), attempt("q", 0, 10, gpu_count=16)]
    assert days(observe(mixed), "pod", on_nodes=False) == (30, 30)


def test_node_time_beyond_int64_stays_exact() -> None:
    # 16,384 nodes for 54 days: 7.6e19 ns, where Int64 ends at 9.2e18
    found = observe([attempt("r", 0, 54, gpu_count=131_072)])
    of_pod = found.filter(pl.col("scope") == "cluster")
    assert of_pod["node_time_ns"].to_list() == [16_384 * 54 * DAY_NS]
