"""Lengths that a replay starts from: what operations took, and what they would take.

A pass takes what it took. Of what ranks leave together only the transfer counts, from
the last arrival on: the rest is waiting, which a replay finds anew.
"""

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis._replay_graph import Graph
from analysis._replay_kinds import TRANSFERS
from analysis._replay_simulator import arrivals

#: Clocks of hosts differ: a transfer that seems to end this much before the last
#: arrival took no time; one a little too short is kept, as others are a little too
#: long. [ns]
CLOCK_ERROR_NS: Final = 10_000_000


def own_lengths(
    graph: Graph, operations: pl.DataFrame, shape: tuple[int, int, int, int]
) -> npt.NDArray[np.int64]:
    """Return the length of every pass and transfer, by row. [ns]

    Args:
        graph: What waits for what.
        operations: `start_ns` and `duration_ns`, by node, step, replica and lane. [ns]
        shape: Nodes, steps, replicas and lanes.
    """
    starts = operations["start_ns"].to_numpy().reshape(shape)
    own = operations["duration_ns"].to_numpy().reshape(shape).copy()
    waits = arrivals(graph, starts) - starts
    transfers = graph.is_transfer
    own[transfers] -= waits[transfers]
    own[own <= -CLOCK_ERROR_NS] = 0
    return own.reshape(-1)


def ideal_lengths(
    kinds: pl.Series, own: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return for every operation what it would take if all of its kind were alike. [ns]

    The mean of a kind over steps, micro-batches, stages and replicas; of what ranks
    leave together the median, which stragglers do not move (arXiv 2505.05713).

    Args:
        kinds: Kind of every operation.
        own: Its length. [ns]
    """
    named = pl.DataFrame({"kind": kinds, "own": own})
    length = pl.col("own")
    usual = (
        pl.when(pl.col("kind").is_in(TRANSFERS).first())
        .then(length.median())
        .otherwise(length.mean())
    )
    each = named.group_by("kind").agg(usual.round().cast(pl.Int64).alias("ideal"))
    of_kind = dict(each.iter_rows())
    ideal = kinds.replace_strict(
        list(of_kind), list(of_kind.values()), return_dtype=pl.Int64
    )
    return ideal.to_numpy()
