"""One name for each host."""

import polars as pl
import pytest

from analysis._analysis import Frames
from analysis._claim_lines import lines_of
from analysis._host_names import host_names, spelled_alike
from analysis._ledger_hosts import mapped_gpus
from analysis.attempts import Attempts
from analysis.incidents import Incidents
from analysis.interrupt_rates import InterruptRates
from analysis.interruptions import Interruptions
from ingest.tables import HostMap
from tests.analysis.failing import attempt, rows_of, tables, xid


def hosts(*names: str | None, cluster: str = "c1") -> pl.LazyFrame:
    schema = {"cluster": pl.String, "host": pl.String}
    rows = [(cluster, name) for name in names]
    return pl.LazyFrame(rows, schema=schema, orient="row")


def alike(known: list[str], said: list[str]) -> list[str]:
    names = host_names([hosts(*known), hosts(*said)])
    return spelled_alike(hosts(*said), names).collect()["host"].to_list()


@pytest.mark.parametrize(
    "said",
    ["node-02", "NODE-02", "node-02.", "node-02.dc1.example.com", "Node-02.DC1."],
)
def test_a_host_is_called_as_the_job_list_calls_it(said: str) -> None:
    assert alike(["node-01", "node-02"], [said]) == ["node-02"]


def test_a_full_name_in_the_job_list_is_kept() -> None:
    assert alike(["Node-02.dc1"], ["node-02", "node-02.dc1.com"]) == ["Node-02.dc1"] * 2


def test_two_known_hosts_of_one_short_name_stay_apart() -> None:
    known = ["node-02.a", "node-02.b"]
    said = ["node-02", "NODE-02.B", "node-02.a.", "node-02.c"]
    assert alike(known, said) == ["node-02", "node-02.b", "node-02.a", "node-02.c"]


def test_logs_of_two_domains_are_not_laid_to_one_node() -> None:
    said = ["node-02.a", "node-02.b", "node-02"]
    assert alike(["node-02"], said) == said


def test_a_label_that_only_begins_alike_is_another() -> None:
    assert alike(["node-02.dc1"], ["node-02.dc"]) == ["node-02.dc"]
    assert alike(["node-2"], ["node-20"]) == ["node-20"]


def test_addresses_are_not_cut() -> None:
    said = ["10.0.0.2", "fe80::1.2", "10"]
    assert alike(["10.0.0.1"], said) == said


def test_another_cluster_is_another_place_and_no_host_is_no_host() -> None:
    rows = pl.concat([hosts("NODE-02", None), hosts("NODE-02", cluster="c2")])
    names = host_names([hosts("node-02"), rows])
    told = spelled_alike(rows, names).collect()["host"].to_list()
    assert told == ["node-02", None, "NODE-02"]


def test_hosts_that_nobody_else_knows_are_one_by_the_plainest_spelling() -> None:
    assert alike([], ["NODE-02", "node-02.", "node-02"]) == ["node-02"] * 3


def test_spellings_of_a_node_are_one_incident_and_the_cause_of_its_stop() -> None:
    said = ["node-02.dc1.example.com", "NODE-02", "node-02."]
    lines = [
        xid(code, 1.999, host) for code, host in zip((79, 154, 119), said, strict=True)
    ]
    held = [attempt("r", 0, 0, 2, "node-01,node-02")]
    found = tables(held, lines)
    incidents = found[Incidents].collect().to_dicts()
    assert [row["host"] for row in incidents] == ["node-02"]
    stop = found[Interruptions].collect().to_dicts()[0]
    assert stop["incident_id"] == incidents[0]["incident_id"]
    counted = found[InterruptRates].filter(scope="host", level="interruption")
    assert counted.filter(pl.col("count") > 0).collect()[
        "scope_id"
    ].unique().item() == ("node-02")
    told = lines_of(Frames(found), str(stop["incident_id"])).collect()
    assert sorted(told["host"]) == sorted(said)


def test_a_map_that_spells_nodes_in_full_is_of_the_nodes_of_the_job() -> None:
    seats = [{"run_id": "r", "rank": 0, "host": "NODE-01.dc1", "local_rank": 0}]
    seats.append(seats[0] | {"rank": 1, "host": "node-09.dc1"})
    held = rows_of(Attempts, [attempt("r", 0, 0, 2, "node-01,node-02")])
    mapped = mapped_gpus(rows_of(HostMap, seats), held).sort("rank").collect()
    assert mapped["host"].to_list() == ["node-01", None]
