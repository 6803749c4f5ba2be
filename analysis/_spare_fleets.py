"""The largest run of each cluster, and how long the cluster's nodes were observed."""

import polars as pl

from analysis._analysis import Frames
from analysis._exposure import of_hosts
from analysis._held_nodes import held_nodes, known_clusters
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.runs import Runs


def node_time(frames: Frames) -> pl.DataFrame:
    """Return `node_time_ns` of each `cluster`: what its named nodes were held. [ns]

    Args:
        frames: Attempts and GPUs.
    """
    by_host = of_hosts(held_nodes(frames[Attempts], frames[Gpus]).collect())
    summed = by_host.group_by("cluster").agg(pl.col("node_time_ns").sum())
    return summed.filter(pl.col("node_time_ns") > 0)


def largest_runs(frames: Frames) -> pl.DataFrame:
    """Return the run of each cluster that held most nodes in one attempt.

    Args:
        frames: Attempts, GPUs and runs.

    Returns:
        `cluster`, `run_id`, `nodes` and `gpus_per_node`, in order of clusters; clusters
        of which no run tells GPUs and nodes are left out.
    """
    attempts = known_clusters(frames[Attempts], frames[Gpus]).collect()
    named = held_nodes(frames[Attempts], frames[Gpus]).collect()
    keys = ["run_id", "attempt"]
    nodes = named.group_by(keys).agg(nodes=pl.len().cast(pl.Int64))
    told = frames[Runs].select("run_id", "gpus_per_node").collect()
    sized = attempts.join(nodes, on=keys).join(told, on="run_id", how="left")
    seen = pl.col("gpu_count") // pl.col("nodes")
    known = sized.with_columns(gpus_per_node=pl.coalesce("gpus_per_node", seen))
    ordered = known.filter(pl.col("gpus_per_node") > 0).sort(
        ["cluster", "nodes", "run_id", "attempt"],
        descending=[False, True, False, False],
    )
    largest = ordered.unique("cluster", keep="first", maintain_order=True)
    return largest.select("cluster", "run_id", "nodes", "gpus_per_node")
