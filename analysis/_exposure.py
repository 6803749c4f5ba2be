"""How long nodes and runs were observed: what failures are counted against."""

from typing import Final

import polars as pl

from analysis.attempts import Attempts
from analysis.intervals import union_ns

#: Columns of an exposure. `exposure_ns` is what a mean time is taken of, `node_time_ns`
#: what a rate for node-days is.
EXPOSURE: Final = (
    "scope",
    "cluster",
    "run_id",
    "scope_id",
    "on_nodes",
    "exposure_ns",
    "node_time_ns",
    "period_start_ns",
    "period_end_ns",
)

_PERIOD: Final = (
    pl.col("start_ns").min().alias("period_start_ns"),
    pl.col("end_ns").max().alias("period_end_ns"),
)
_LENGTH: Final = (pl.col("end_ns") - pl.col("start_ns")).cast(pl.Int128)


def exposures(
    attempts: pl.DataFrame, nodes: pl.DataFrame, runs: pl.DataFrame
) -> pl.DataFrame:
    """Sum up the observed time of clusters, runs and nodes.

    What nodes tell of (`on_nodes`) is observed where the nodes of an attempt are known;
    that a run stopped is observed in every attempt.

    Args:
        attempts: Rows of Attempts, their cluster known.
        nodes: Nodes held, from `held_nodes`.
        runs: Rows of Runs, which tell how many GPUs a node has.

    Returns:
        The columns of EXPOSURE; times that are not known in full are null. [ns]
    """
    keys = [Attempts.run_id.name, Attempts.attempt.name]
    named = nodes.group_by(keys).agg(named=pl.len().cast(pl.Int64))
    per_node = runs.select("run_id", "gpus_per_node")
    sized = attempts.join(named, on=keys, how="left").join(
        per_node, on="run_id", how="left"
    )
    filled = Attempts.gpu_count.col + pl.col("gpus_per_node") - 1
    counted = sized.with_columns(
        nodes=pl.coalesce("named", filled // pl.col("gpus_per_node"))
    )
    by_host = _of_hosts(nodes)
    return pl.concat(
        [
            _finish(by_host, "host", "host", on_nodes=True),
            _finish(by_host, "host", "host", on_nodes=False),
            _finish(_of_clusters(by_host), "cluster", "cluster", on_nodes=True),
            _finish(_of_stops(counted, by_host), "cluster", "cluster", on_nodes=False),
            _finish(
                _of_runs(counted.drop_nulls("named")), "run", "run_id", on_nodes=True
            ),
            _finish(_of_runs(counted), "run", "run_id", on_nodes=False),
        ]
    )


def _of_hosts(nodes: pl.DataFrame) -> pl.DataFrame:
    """Count a node once, although two runs may share it."""
    held = nodes.group_by("cluster", "host")
    return held.agg(*_PERIOD, node_time_ns=union_ns().cast(pl.Int128))


def _of_clusters(by_host: pl.DataFrame) -> pl.DataFrame:
    return by_host.group_by("cluster").agg(
        pl.col("node_time_ns").sum(),
        pl.col("period_start_ns").min(),
        pl.col("period_end_ns").max(),
    )


def _of_stops(counted: pl.DataFrame, by_host: pl.DataFrame) -> pl.DataFrame:
    """Sum up the time of named nodes and of those only counted."""
    unnamed = pl.col("named").is_null()
    counts = counted.group_by("cluster").agg(*_PERIOD, _unnamed=_node_time(unnamed))
    named = by_host.group_by("cluster").agg(_named=pl.col("node_time_ns").sum())
    joined = counts.join(named, on="cluster", how="left")
    total = pl.col("_unnamed") + pl.col("_named").fill_null(0)
    return joined.with_columns(node_time_ns=total)


def _of_runs(counted: pl.DataFrame) -> pl.DataFrame:
    return counted.group_by("cluster", "run_id").agg(
        *_PERIOD, exposure_ns=_LENGTH.sum(), node_time_ns=_node_time(pl.lit(value=True))
    )


def _node_time(where: pl.Expr) -> pl.Expr:
    """Sum up node-time, null where the nodes of some attempt cannot be counted."""
    node_time = (_LENGTH * pl.col("nodes")).filter(where)
    return pl.when(~node_time.is_null().any()).then(node_time.sum())


def _finish(
    rows: pl.DataFrame, scope: str, scope_id: str, *, on_nodes: bool
) -> pl.DataFrame:
    run_id = pl.col("run_id") if scope == "run" else pl.lit(None, pl.String)
    exposure = "exposure_ns" if scope == "run" else "node_time_ns"
    return rows.select(
        pl.lit(scope).alias("scope"),
        "cluster",
        run_id.alias("run_id"),
        pl.col(scope_id).alias("scope_id"),
        pl.lit(value=on_nodes).alias("on_nodes"),
        pl.col(exposure).alias("exposure_ns"),
        "node_time_ns",
        "period_start_ns",
        "period_end_ns",
    )
