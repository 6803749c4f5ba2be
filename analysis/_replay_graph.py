"""What waits for what in a step: the graph of one replica, shared by all."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis._replay_collective_edges import replica_edges
from analysis._replay_edges import compute_edges, model_edges, transfer_edges
from analysis._replay_kinds import CLIP, DP_KINDS, EMBEDDING, PEERS
from analysis._replay_levels import ALL, ALONE, REPLICAS, Indices, Level, levels_of
from analysis._replay_matching import match_passes, pairs_of


class Graph(NamedTuple):
    """What waits for what in a step.

    Attributes:
        levels: In the order of simulation.
        group: Group of each node, the smallest node in it.
        reach: How far each node's group waits: ALONE, REPLICAS or ALL.
        is_transfer: Whether ranks leave a node together.
        edges: `before` and `after`, without repetitions.
        has_transfers: Whether transfers between stages are recorded.
    """

    levels: tuple[Level, ...]
    group: Indices
    reach: Indices
    is_transfer: npt.NDArray[np.bool_]
    edges: pl.DataFrame
    has_transfers: bool


def graph_of(nodes: pl.DataFrame) -> Graph:
    """Return the graph of the operations of a cell.

    Args:
        nodes: `node` (0, 1, ...), `pp_rank`, `kind`, `position`, `chunk`,
            `microbatch`, `start_ns` and `end_ns` of each operation.

    Raises:
        UnfitTraceError: If peers are missing, or operations wait for each other in a
            circle.
    """
    stages = int(nodes["pp_rank"].max()) + 1  # type: ignore[arg-type]
    has_transfers = nodes.filter(pl.col("kind").is_in(PEERS)).height > 0
    edges = [compute_edges(nodes), replica_edges(nodes)]
    group = np.arange(nodes.height)
    if has_transfers:
        matches = match_passes(nodes, stages)
        pairs = pairs_of(nodes, matches, stages)
        edges.append(transfer_edges(nodes, matches))
        node, peer = (pairs[name].to_numpy() for name in ("node", "peer"))
        group[node] = np.minimum(node, peer)
    else:
        edges.append(model_edges(nodes, stages))
    for kind in (EMBEDDING, CLIP):
        _gather(nodes, kind, group)
    unique = pl.concat(edges).unique().sort("after", "before")
    reach = _reach(nodes)
    kinds = (*PEERS, *DP_KINDS, EMBEDDING, CLIP)
    is_transfer = nodes["kind"].is_in(kinds).to_numpy()
    levels = levels_of(group, reach, unique)
    return Graph(levels, group, reach, is_transfer, unique, has_transfers)


def _gather(nodes: pl.DataFrame, kind: str, group: Indices) -> None:
    """Make one group of the operations of a kind over all stages."""
    found = nodes.filter(pl.col("kind") == kind)
    first = found.select(pl.col("node").min().over("position"))["node"]
    group[found["node"].to_numpy()] = first.to_numpy()


def _reach(nodes: pl.DataFrame) -> Indices:
    reach = (
        pl.when(pl.col("kind") == CLIP)
        .then(ALL)
        .when(pl.col("kind").is_in(DP_KINDS))
        .then(REPLICAS)
        .otherwise(ALONE)
    )
    return nodes.select(reach.cast(pl.Int64).alias("reach"))["reach"].to_numpy()
