"""Nodes of scheduler jobs: one that two listings tell, with and without cluster."""

import polars as pl

from analysis._held_nodes import job_nodes
from ingest.tables import Jobs

TYPES = {name: pl.Schema(Jobs)[name] for name in (*Jobs.key, "end_ns", "hosts")}


def held(*rows: tuple[str | None, int | None, str]) -> list[tuple[object, ...]]:
    told = [("pod", cluster, "101", 0, 1, end, host) for cluster, end, host in rows]
    jobs = pl.LazyFrame(told, schema=TYPES, orient="row")
    return job_nodes(jobs).select("host", "end_ns").sort("host").collect().rows()


def test_a_job_that_two_listings_tell_is_one() -> None:
    assert held((None, 9, "a"), ("east", 9, "a")) == [("a", 9)]
    assert held((None, 9, "a"), ("east", None, "a")) == [("a", 9)]
    assert held((None, None, "a"), ("east", 9, "a")) == [("a", 9)]


def test_jobs_of_two_clusters_with_one_number_are_two() -> None:
    assert held(("east", 9, "a"), ("west", 8, "b")) == [("a", 9), ("b", 8)]
