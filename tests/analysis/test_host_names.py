"""One name for each host."""

import polars as pl
import pytest

from analysis._host_names import host_names, spelled_alike


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
