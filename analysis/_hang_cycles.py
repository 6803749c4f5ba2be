"""Parts of a directed graph that lead nowhere else, and what all their cycles share."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: Nodes of a cycle, from which on it is too long to look at each of them. [1]
_LONGEST: Final = 128

#: Parts from which on none is looked at: that many are no hang of a few ranks. [1]
_MOST_PARTS: Final = 64


def parts_without_exit(source: Numbers, target: Numbers, size: int) -> Numbers:
    """Return the part of each node from which no edge leads out; -1 for all others.

    Parts are strongly connected: from each node of one there is a way to each other.
    Source: Tarjan, SIAM J. Comput. 1, 1972.

    Args:
        source: Where each edge begins.
        target: Where each edge ends.
        size: How many nodes there are.
    """
    part = _components(source, target, size)
    leads_out = np.zeros(size, dtype=bool)
    leads_out[part[source[part[source] != part[target]]]] = True
    return np.where(leads_out[part], -1, part)


def on_every_cycle(
    source: Numbers, target: Numbers, part: Numbers, ranks: int
) -> Flags:
    """Return which ranks are on every cycle of their part.

    Without such a rank its part has no cycle left. All of them are on any one cycle, so
    only those of one are tried.

    Args:
        source: Where each edge begins.
        target: Where each edge ends.
        part: Part of each node; -1 for those that are not asked about.
        ranks: How many of the nodes are ranks; they come first.
    """
    found = np.zeros(ranks, dtype=bool)
    inside = (part[source] >= 0) & (part[source] == part[target])
    source, target = source[inside], target[inside]
    parts = np.unique(part[source])
    for one in parts if len(parts) <= _MOST_PARTS else ():
        held = part[source] == one
        nodes, both = np.unique(
            np.concatenate([source[held], target[held]]), return_inverse=True
        )
        begin, end = both[: held.sum()], both[held.sum() :]
        for node in _cycle(begin, end, len(nodes)):
            if nodes[node] < ranks and _breaks(begin, end, len(nodes), node):
                found[nodes[node]] = True
    return found


def steps_to(
    goals: Numbers, source: Numbers, target: Numbers, size: int
) -> npt.NDArray[np.float64]:
    """Return the edges from each node to the nearest goal; infinite where no way leads.

    Args:
        goals: Nodes to come to.
        source: Where each edge begins.
        target: Where each edge ends.
        size: How many nodes there are.
    """
    from scipy.sparse.csgraph import dijkstra

    if not len(goals):
        return np.full(size, np.inf)
    back = _graph(target, source, size)
    found = dijkstra(back, indices=goals, unweighted=True, min_only=True)
    return np.asarray(found, dtype=np.float64)


def _components(source: Numbers, target: Numbers, size: int) -> Numbers:
    from scipy.sparse.csgraph import connected_components

    graph = _graph(source, target, size)
    _, part = connected_components(graph, directed=True, connection="strong")
    return np.asarray(part, dtype=np.int64)


def _graph(source: Numbers, target: Numbers, size: int) -> Any:
    from scipy.sparse import coo_array

    ones = np.ones(len(source), dtype=np.int8)
    return coo_array((ones, (source, target)), shape=(size, size)).tocsr()


def _cycle(source: Numbers, target: Numbers, size: int) -> list[int]:
    """Return the nodes of a shortest cycle through the first node; none if too long."""
    from scipy.sparse.csgraph import dijkstra

    graph = _graph(source, target, size)
    distance, before = dijkstra(
        graph, indices=0, unweighted=True, return_predecessors=True
    )
    last = source[target == 0]
    node = int(last[np.argmin(distance[last])])
    nodes = [node]
    while node != 0 and len(nodes) <= _LONGEST:
        node = int(before[node])
        nodes.append(node)
    return nodes if node == 0 else []


def _breaks(source: Numbers, target: Numbers, size: int, node: int) -> bool:
    """Whether no cycle is left without a node."""
    kept = (source != node) & (target != node)
    part = _components(source[kept], target[kept], size)
    return len(np.unique(part)) == size
