"""Which clocks are connected by moments that both saw."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Graph:
    """Clocks and their connections: one entry a clock.

    Attributes:
        component: Clocks that are connected have the same; the largest is zero.
        reference: Clock that the others of its component are compared with.
        hops: Moments on the shortest way to the reference. [1]
    """

    component: Whole
    reference: Whole
    hops: Whole


def connect(instance: Whole, clock: Whole, clocks: int) -> Graph:
    """Find the clocks that are connected, each component with its first as reference.

    Args:
        instance: The moment of each row, counted from zero.
        clock: The clock that saw it, counted from zero.
        clocks: How many clocks there are. [1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components, dijkstra

    moments = int(instance.max(initial=-1)) + 1
    size = clocks + moments
    ones = np.ones(len(clock))
    edges = coo_array((ones, (clock, clocks + instance)), shape=(size, size)).tocsr()
    _, label = connected_components(edges, directed=False)
    component = _largest_first(label[:clocks].astype(np.int64))
    first = np.unique(component, return_index=True)[1].astype(np.int64)
    steps = dijkstra(
        edges, directed=False, indices=first, unweighted=True, min_only=True
    )
    return Graph(component, first[component], (steps[:clocks] // 2).astype(np.int64))


def _largest_first(label: Whole) -> Whole:
    """Number the labels anew: the most frequent is zero, of equals the first."""
    _, first, inverse, counts = np.unique(
        label, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -counts))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place[inverse].astype(np.int64)
