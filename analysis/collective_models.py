"""Time of a collective on paper: ring, double binary tree, hierarchical, in-network.

A model is a line: rounds with their latency, and bytes that pass the port of a GPU with
its bandwidth. A ring's slices go round one after the other; a tree's data goes up and
down; a hierarchical collective runs inside the node, between nodes, and back inside; in
the network, switches add up what GPUs send once.

Sources: Hockney, Parallel Computing 20, 1994 (a line); Patarasuk and Yuan, J. Parallel
Distrib. Comput. 69, 2009 (ring); Sanders, Speck and Traeff, Parallel Computing 35, 2009
(two trees); Graham et al., COMHPC 2016 (in-network reduction).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from analysis._collective_shape import Layout, Leg, Link, Model, flat

#: Passes over the data: an all-reduce is a reduce-scatter and an all-gather.
_PASSES: Final[Mapping[str, int]] = MappingProxyType(
    {"allreduce": 2, "allgather": 1, "reducescatter": 1}
)

#: Kinds that there are models of.
KINDS: Final = tuple(_PASSES)


def ring(layout: Layout, kind: str = "allreduce") -> Model:
    """Return a ring: 2(N - 1) rounds of an all-reduce, one slice in each.

    A slice passes N - 1 of the ring's N hops; of the slowest slice, as many as can be
    are between nodes. All GPUs of a node send through their links at once.

    Args:
        layout: Ranks and links.
        kind: One of KINDS.
    """
    passes, hops = _PASSES[kind], layout.ranks - 1
    far = min(layout.nodes, hops) if layout.nodes > 1 else 0
    wire = passes * hops / layout.ranks
    rounds = (passes * (hops - far), passes * far)
    return _pipelined("ring", layout, rounds, (wire, wire))


def tree(layout: Layout, kind: str = "allreduce") -> Model:
    """Return a double binary tree: 2 log2 N rounds of an all-reduce, up and down.

    Rank and node are inside one of the trees and a leaf of the other, so that all send
    alike.

    Args:
        layout: Ranks and links.
        kind: One of KINDS.
    """
    passes, far = _PASSES[kind], _levels(layout.nodes)
    rounds = (passes * (_levels(layout.ranks) - far), passes * far)
    wire = [passes * (count - 1) / count for count in (layout.ranks, layout.nodes)]
    return _pipelined("tree", layout, rounds, (wire[0], wire[1]))


def hierarchical(layout: Layout, kind: str = "allreduce") -> Model:
    """Return a ring inside the node, one between nodes for each GPU, and back inside.

    Args:
        layout: Ranks and links.
        kind: One of KINDS.
    """
    passes, near, far = _PASSES[kind], layout.per_node - 1, layout.nodes - 1
    share = far / layout.nodes / layout.per_node
    return Model(
        "hierarchical",
        (
            Leg(passes * near, passes * near / layout.per_node, layout.inside),
            Leg(passes * far, passes * share, layout.between),
        ),
        pipelined=False,
    )


def in_network(layout: Layout, kind: str = "allreduce", levels: int = 1) -> Model:
    """Return a reduction in switches: each byte goes up once and comes down once.

    Args:
        layout: Ranks and links.
        kind: One of KINDS.
        levels: Levels of switches between nodes. [1]
    """
    passes = _PASSES[kind]
    rounds = (passes * min(1, layout.per_node - 1), passes * levels)
    far = rounds[1] if layout.nodes > 1 else 0
    return _pipelined("in_network", layout, (rounds[0], far), (1.0, 1.0))


#: Every model by its name.
MODELS: Final[Mapping[str, Callable[[Layout, str], Model]]] = MappingProxyType(
    {
        "ring": ring,
        "tree": tree,
        "hierarchical": hierarchical,
        "in_network": in_network,
    }
)


def slice_bytes(size_bytes: float, ranks: int) -> float:
    """Return what a rank of a ring sends in one round. [B]

    Args:
        size_bytes: Size of the whole message. [B]
        ranks: Ranks of the ring. [1]
    """
    return size_bytes / ranks


def crossing_bytes(first: Model, second: Model) -> float | None:
    """Return the size at which two models take the same time. [B]

    Returns:
        The size; None where one of them is faster at every size, or they are equal.
    """
    fixed = second.fixed_ns - first.fixed_ns
    per_byte = first.ns_per_byte - second.ns_per_byte
    if not per_byte or fixed / per_byte < 0:
        return None
    return fixed / per_byte


def _levels(count: int) -> int:
    """Return the levels of a binary tree. [1]"""
    return (count - 1).bit_length()


def _pipelined(
    name: str, layout: Layout, rounds: tuple[int, int], wire: tuple[float, float]
) -> Model:
    """Return a model whose bytes pass both links at once.

    Args:
        name: Name of the algorithm.
        layout: Ranks and links.
        rounds: Rounds inside nodes and between them. [1]
        wire: Bytes out of a GPU and out of a node for each byte of the message. [1]
    """
    near = wire[0] if layout.per_node > 1 else 0.0
    far = wire[1] / layout.per_node if layout.nodes > 1 else 0.0
    legs = (Leg(rounds[0], near, layout.inside), Leg(rounds[1], far, layout.between))
    return Model(name, legs, pipelined=True)


__all__ = [
    "KINDS",
    "MODELS",
    "Layout",
    "Leg",
    "Link",
    "Model",
    "crossing_bytes",
    "flat",
    "hierarchical",
    "in_network",
    "ring",
    "slice_bytes",
    "tree",
]
