"""Levels of a graph, which can be simulated one after another.

Operations that end together are one node of the condensed graph. The level of one is
the longest way to it, so that whatever it waits for is on a level before.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis._replay_rows import UnfitTraceError

Indices = npt.NDArray[np.int64]

#: How far operations of a group wait for each other: within a replica, over the
#: replicas of a lane, over all.
ALONE: Final = 0
REPLICAS: Final = 1
ALL: Final = 2


class Level(NamedTuple):
    """Nodes that can be simulated at once.

    Attributes:
        nodes: Its nodes, those of a group side by side.
        before: What they wait for, node after node; the number of nodes stands for
            the beginning of the step.
        firsts: Where in `before` each node begins.
        groups: Where in `nodes` each group begins.
        group_of: Group of each node.
        over_replicas: Groups that replicas of a lane leave together.
        over_all: Groups that all leave together.
    """

    nodes: Indices
    before: Indices
    firsts: Indices
    groups: Indices
    group_of: Indices
    over_replicas: Indices
    over_all: Indices


def levels_of(group: Indices, reach: Indices, edges: pl.DataFrame) -> tuple[Level, ...]:
    """Cut a graph into levels.

    Args:
        group: Group of each node, the smallest node in it.
        reach: How far each node's group waits: ALONE, REPLICAS or ALL.
        edges: `before` and `after`, sorted by `after`, without repetitions.

    Raises:
        UnfitTraceError: If nodes wait for each other in a circle.
    """
    before, after = (edges[name].to_numpy() for name in ("before", "after"))
    depth = _depths(group, before, after)
    order = np.lexsort((np.arange(len(group)), group, depth[group]))
    bounds = np.flatnonzero(np.diff(depth[group][order])) + 1
    starts = np.searchsorted(after, np.arange(len(group) + 1))
    return tuple(
        _level(nodes, group, reach, before, starts) for nodes in np.split(order, bounds)
    )


def _depths(group: Indices, before: Indices, after: Indices) -> Indices:
    """Return the longest way to each group, by taking off what waits for nothing."""
    size = len(group)
    source, target = group[before], group[after]
    by_source = np.argsort(source, kind="stable")
    target, starts = (
        target[by_source],
        np.searchsorted(source[by_source], np.arange(size + 1)),
    )
    waits = np.bincount(target, minlength=size)
    depth, level = np.full(size, -1), 0
    is_group = np.zeros(size, dtype=bool)
    is_group[group] = True
    ready = np.flatnonzero(is_group & (waits == 0))
    while len(ready):
        depth[ready] = level
        reached = target[_ranges(starts[ready], starts[ready + 1])]
        waits -= np.bincount(reached, minlength=size)
        freed = np.unique(reached)
        ready, level = freed[waits[freed] == 0], level + 1
    if (depth[is_group] < 0).any():
        reason = "operations wait for each other in a circle"
        raise UnfitTraceError(reason)
    return depth


def _level(
    nodes: Indices, group: Indices, reach: Indices, before: Indices, starts: Indices
) -> Level:
    counts = starts[nodes + 1] - starts[nodes]
    held = np.maximum(counts, 1)
    firsts = np.cumsum(held) - held
    waits = np.full(int(held.sum()), len(group))
    places = _ranges(firsts, firsts + counts)
    waits[places] = before[_ranges(starts[nodes], starts[nodes + 1])]
    groups = np.flatnonzero(np.diff(group[nodes], prepend=-1))
    group_of = np.cumsum(np.isin(np.arange(len(nodes)), groups)) - 1
    wide = reach[nodes[groups]]
    return Level(
        nodes,
        waits,
        firsts,
        groups,
        group_of,
        np.flatnonzero(wide == REPLICAS),
        np.flatnonzero(wide == ALL),
    )


def _ranges(starts: Indices, ends: Indices) -> Indices:
    """Return the numbers of all ranges, one range after another."""
    lengths = ends - starts
    offsets: Indices = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    return offsets + np.arange(len(offsets))
