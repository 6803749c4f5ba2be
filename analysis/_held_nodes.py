"""Which attempt held which node when, and what happened on it."""

from typing import Final

import polars as pl

from analysis._host_names import host_names, spelled_alike
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from ingest.tables import Jobs

#: Cluster of attempts that no source tells the cluster of.
UNKNOWN_CLUSTER: Final = "unknown"

#: Columns of a node held.
NODE: Final = ("cluster", "host")


def held_nodes(attempts: pl.LazyFrame, gpus: pl.LazyFrame) -> pl.LazyFrame:
    """Return the nodes of attempts.

    Args:
        attempts: Rows of Attempts.
        gpus: Rows of Gpus; they tell nodes too.

    Returns:
        A row for each attempt and node: `cluster`, `host` (one name for each, as jobs
        spell it where they tell), `run_id`, `attempt`, `job_id` (the run where no job
        is known), `start_ns` and `end_ns`.
    """
    keys = [Attempts.run_id.name, Attempts.attempt.name]
    spans = (
        known_clusters(attempts, gpus)
        .select(
            Attempts.cluster.name,
            *keys,
            pl.coalesce(Attempts.job_id.name, Attempts.run_id.name).alias("job_id"),
            Attempts.start_ns.name,
            Attempts.end_ns.name,
        )
        .collect()
        .lazy()
    )
    mapped = gpus.select(*keys, Gpus.host.name).drop_nulls().unique()
    told = [
        rows.join(spans.select(*keys, "cluster"), on=keys).collect().lazy()
        for rows in (_listed_hosts(attempts, keys), mapped)
    ]
    names = host_names(told).collect().lazy()
    nodes = pl.concat(told).unique()
    respelled = names.filter(pl.col("host") != pl.col("name")).collect()
    if not respelled.is_empty():
        nodes = spelled_alike(nodes, names).unique()
    held = nodes.join(spans.drop("cluster"), on=keys)
    return held.select(*NODE, *keys, "job_id", "start_ns", "end_ns")


def known_clusters(attempts: pl.LazyFrame, gpus: pl.LazyFrame) -> pl.LazyFrame:
    """Return the attempts, a missing cluster filled by their GPUs' or as unknown."""
    keys = [Attempts.run_id.name, Attempts.attempt.name]
    told = gpus.drop_nulls(Gpus.cluster.name).group_by(keys)
    joined = attempts.join(told.agg(_told=Gpus.cluster.col.min()), on=keys, how="left")
    cluster = pl.coalesce(Attempts.cluster.name, "_told", pl.lit(UNKNOWN_CLUSTER))
    return joined.with_columns(cluster=cluster).drop("_told")


def job_nodes(jobs: pl.LazyFrame) -> pl.LazyFrame:
    """Return the nodes of scheduler jobs: `cluster`, `host`, `job_id` and times."""
    started = _told_once(jobs.drop_nulls(Jobs.start_ns.name))
    last = pl.max_horizontal(Jobs.start_ns.col.max(), Jobs.end_ns.col.max())
    spans = started.select(
        Jobs.cluster.name,
        Jobs.job_id.name,
        Jobs.start_ns.name,
        Jobs.end_ns.col.fill_null(last),
        Jobs.hosts.name,
    )
    return _explode_hosts(spans)


def _told_once(jobs: pl.LazyFrame) -> pl.LazyFrame:
    """Drop a job without its scheduler's cluster that is there with it, too."""
    job = [Jobs.cluster.name, Jobs.job_id.name, Jobs.start_ns.name]
    is_named = Jobs.scheduler_cluster.col.is_not_null()
    other = Jobs.end_ns.col.filter(~is_named).max().over(job)
    ended = jobs.with_columns(pl.coalesce(Jobs.end_ns.col, other).alias("end_ns"))
    return ended.filter(is_named | ~is_named.any().over(job))


def last_holder(
    events: pl.LazyFrame, nodes: pl.LazyFrame, slack_ns: int
) -> pl.LazyFrame:
    """Give each event the last holder of its node that had started by then.

    Args:
        events: Rows with `cluster`, `host` and `first_ns`.
        nodes: Nodes held: `cluster`, `host`, `start_ns`, `end_ns` and who held them.
        slack_ns: How long after its end a holder still answers for a node. [ns]

    Returns:
        All events with the holder's columns, null where nobody held the node.
    """
    holder = [name for name in nodes.collect_schema().names() if name not in NODE]
    joined = events.sort("first_ns").join_asof(
        nodes.sort("start_ns"),
        left_on="first_ns",
        right_on="start_ns",
        by=list(NODE),
        strategy="backward",
        check_sortedness=False,
    )
    held = pl.col("first_ns") <= pl.col("end_ns") + slack_ns
    placed = joined.with_columns(pl.when(held).then(pl.col(holder)).name.keep())
    return placed.drop("start_ns", "end_ns")


def _listed_hosts(attempts: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    return _explode_hosts(attempts.select(*keys, Attempts.hosts.name))


def _explode_hosts(rows: pl.LazyFrame) -> pl.LazyFrame:
    host = pl.col("hosts").str.split(",")
    named = rows.with_columns(host=host).drop("hosts").explode("host")
    stripped = named.with_columns(pl.col("host").str.strip_chars())
    return stripped.filter(pl.col("host") != "")
