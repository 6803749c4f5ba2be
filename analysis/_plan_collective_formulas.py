"""Formulas of an all-reduce over all ranks, as they are for ranks in a certain layout.

N ranks are on n nodes, p on each. Rounds inside nodes and between them have latencies
of their own; L(k) is log2 k, rounded up.
"""

from typing import Final, NamedTuple

from analysis.collective_models import Layout

_RING: Final = "2 (N - 1) / N"

#: Rounds inside nodes, rounds between them, and time of a byte, by algorithm: of ranks
#: inside one node, of ranks that fill nodes, and of ranks that do not.
_INSIDE: Final = {
    "ring": ("2 (N - 1)", "", f"{_RING} / nvlink_gbs"),
    "tree": ("2 L(N)", "", f"{_RING} / nvlink_gbs"),
    "hierarchical": ("2 (N - 1)", "", f"{_RING} / nvlink_gbs"),
    "in_network": ("2", "", "1 / nvlink_gbs"),
}
_FILLED: Final = {
    "ring": (
        *("2 (N - 1 - n)", "2 n"),
        f"{_RING} / min(nvlink_gbs, p x network_gbs)",
    ),
    "tree": (
        *("2 (L(N) - L(n))", "2 L(n)"),
        f"max({_RING} / nvlink_gbs, 2 (n - 1) / n / (p x network_gbs))",
    ),
    "hierarchical": (
        *("2 (p - 1)", "2 (n - 1)"),
        "(2 (p - 1) / p / nvlink_gbs + 2 (n - 1) / N / network_gbs)",
    ),
    "in_network": (
        *("2", "2 x fabric_levels"),
        "1 / min(nvlink_gbs, p x network_gbs)",
    ),
}
_APART: Final = {
    "ring": ("", "2 (N - 1)", f"{_RING} / network_gbs"),
    "tree": ("", "2 L(N)", f"{_RING} / network_gbs"),
    "hierarchical": ("", "2 (N - 1)", f"{_RING} / network_gbs"),
    "in_network": ("", "2 x fabric_levels", "1 / network_gbs"),
}


class Written(NamedTuple):
    """Formulas of an algorithm, in names of inputs.

    Attributes:
        time: Of a message.
        latency: Of its rounds alone.
        rounds: Of their number.
        bandwidth: Of size over time without latency.
    """

    time: str
    latency: str
    rounds: str
    bandwidth: str


def written(name: str, layout: Layout | None = None) -> Written:
    """Return formulas of an algorithm.

    Args:
        name: One of MODELS.
        layout: Ranks and nodes; None for ranks that fill several nodes.
    """
    if layout is not None and layout.ranks == 1:
        return Written(*("0: one rank sends nothing",) * 4)
    near, far, cost = _parts(layout)[name]
    legs = (("inside_latency", near), ("round_latency", far))
    latency = " + ".join(f"{one} x {rounds}" for one, rounds in legs if rounds)
    rounds = " + ".join(rounds for rounds in (near, far) if rounds)
    moved = f"bytes{cost[1:]}" if cost.startswith("1 /") else f"bytes x {cost}"
    return Written(f"{latency} + {moved}", latency, rounds, _inverse(cost))


def _inverse(cost: str) -> str:
    if cost.startswith("1 / "):
        return cost.removeprefix("1 / ")
    return f"1 / {cost}" if cost.startswith(("(", "max(")) else f"1 / ({cost})"


def _parts(layout: Layout | None) -> dict[str, tuple[str, str, str]]:
    if layout is None or (layout.nodes > 1 and layout.per_node > 1):
        return _FILLED
    return _INSIDE if layout.nodes == 1 else _APART


def spread(layout: Layout) -> str:
    """Return what the letters of formulas stand for, of a layout."""
    ranks = f"N {layout.ranks} ranks"
    if layout.nodes == 1:
        return f"{ranks}, all in one node"
    if layout.per_node == 1:
        return f"{ranks}, that do not fill nodes: all rounds are between nodes"
    return f"{ranks} on n {layout.nodes} nodes, p {layout.per_node} on each"
