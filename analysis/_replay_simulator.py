"""Times of every operation of many steps at once, level by level of their graph."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from analysis._replay_graph import Graph
from analysis._replay_levels import ALL, REPLICAS

#: Lengths of operations: node, step, replica, lane. [ns]
Times = npt.NDArray[np.int64]

#: Times held at once: steps are simulated in portions of about this many. [1]
PORTION: Final = 4_000_000


def step_portions(shape: tuple[int, ...]) -> Iterator[slice]:
    """Cut steps into portions that fit in memory, however many there are.

    Args:
        shape: Nodes, steps, replicas and lanes.
    """
    nodes, steps, replicas, lanes = shape
    size = max(1, PORTION // (nodes * replicas * lanes))
    for first in range(0, steps, size):
        yield slice(first, first + size)


def simulate(graph: Graph, own: Times) -> Times:
    """Return the end of every operation since the beginning of its step. [ns]

    An operation starts when all it waits for has ended. Ranks that leave together end
    their own transfer after the last of them has arrived.

    Args:
        graph: What waits for what.
        own: Lengths: of passes their own, of what ranks leave together the transfer
            alone. [ns]
    """
    nodes = own.shape[0]
    ends = np.zeros((nodes + 1, *own.shape[1:]), dtype=np.int64)
    for level in graph.levels:
        starts = np.maximum.reduceat(ends[level.before], level.firsts, axis=0)
        arrived = np.maximum.reduceat(starts, level.groups, axis=0)
        if level.over_replicas.size:
            some = arrived[level.over_replicas]
            arrived[level.over_replicas] = some.max(axis=2, keepdims=True)
        if level.over_all.size:
            some = arrived[level.over_all]
            arrived[level.over_all] = some.max(axis=(2, 3), keepdims=True)
        ends[level.nodes] = arrived[level.group_of] + own[level.nodes]
    return ends[:nodes]


def starts_of(graph: Graph, ends: Times) -> Times:
    """Return when each operation was launched, from the ends of what it waits for. [ns]

    Args:
        graph: What waits for what.
        ends: What `simulate` returns. [ns]
    """
    padded = np.concatenate([ends, np.zeros((1, *ends.shape[1:]), dtype=np.int64)])
    starts = np.empty_like(ends)
    for level in graph.levels:
        starts[level.nodes] = np.maximum.reduceat(
            padded[level.before], level.firsts, axis=0
        )
    return starts


def arrivals(graph: Graph, starts: Times) -> Times:
    """Return for each operation when the last of its group had started. [ns]"""
    order = np.lexsort((np.arange(len(graph.group)), graph.group))
    groups = np.flatnonzero(np.diff(graph.group[order], prepend=-1))
    last = np.maximum.reduceat(starts[order], groups, axis=0)
    number = np.cumsum(np.isin(np.arange(len(order)), groups)) - 1
    found = np.empty_like(starts)
    found[order] = last[number]
    for reach, axes in ((REPLICAS, 2), (ALL, (2, 3))):
        wide = graph.reach == reach
        found[wide] = found[wide].max(axis=axes, keepdims=True)
    return found


def step_times(graph: Graph, own: Times) -> npt.NDArray[np.int64]:
    """Return the simulated length of each step, in portions of steps. [ns]"""
    found = [
        simulate(graph, own[:, portion]).max(axis=(0, 2, 3))
        for portion in step_portions(own.shape)
    ]
    return np.concatenate(found)
