"""Lines of a plan: an all-reduce over all ranks by four algorithms, where they cross.

The models are those of `analysis.collective_models`: a line each, of rounds with their
latency and of bytes at the bandwidth of the links.
"""

from collections.abc import Callable
from itertools import combinations
from typing import Final

from analysis._plan_rules import Rule, Told
from analysis.collective_models import (
    MODELS,
    Layout,
    Link,
    Model,
    crossing_bytes,
    flat,
    in_network,
    slice_bytes,
)
from ingest.times import SECOND_NS

#: Nanoseconds of a microsecond. [ns]
_US_NS: Final = 1e3

#: What a layout of ranks on nodes is made of, and levels of switches between these.
_LAYOUT: Final = (
    *("ranks", "gpus_per_node", "fabric_round_latency_us", "fabric_inside_latency_us"),
    *("nvlink_gbs", "network_gbs", "fabric_levels"),
)

#: Formula of the time of each algorithm.
_FORMULAS: Final = {
    "ring": "a x 2 (N - 1) + 2 (N - 1) / N x bytes / b",
    "tree": "a x 2 log2 N + 2 (N - 1) / N x bytes / b",
    "hierarchical": "a x 2 (n - 1 + N / n - 1) + 2 (n - 1) / n x bytes / nvlink +"
    " 2 (N / n - 1) / N x bytes / network",
    "in_network": "a x 2 (1 inside the node + fabric_levels) + bytes / b",
}

_B: Final = (
    "b the slower of nvlink_gbs and gpus_per_node x network_gbs, as all ports of a node"
    " send at once"
)


def _layout(*numbers: float) -> Layout:
    ranks, per_node, far_us, near_us, nvlink, network = numbers[:-1]
    count, each = int(ranks), int(per_node)
    far = Link(far_us * _US_NS, network)
    if count <= each:
        return Layout(count, 1, Link(near_us * _US_NS, nvlink), far)
    if count % each:
        return flat(count, far)
    return Layout(count, count // each, Link(near_us * _US_NS, nvlink), far)


def _model(name: str, *numbers: float) -> Model:
    layout = _layout(*numbers)
    if name == "in_network":
        return in_network(layout, levels=int(numbers[-1]))
    return MODELS[name](layout, "allreduce")


def _of(name: str, what: Callable[[Model], float]) -> Callable[..., float]:
    """Return a compute of something about a model."""
    return lambda *numbers: what(_model(name, *numbers))


def _time(name: str) -> Rule:
    def time(size: float, *numbers: float) -> float:
        return _model(name, *numbers).time_ns(size) / SECOND_NS

    return Rule(
        *("collectives", f"{name}_time", "s", _FORMULAS[name]),
        ("bucket_bytes", *_LAYOUT),
        time,
        _B,
    )


def _latency(name: str) -> Rule:
    return Rule(
        *("collectives", f"{name}_latency", "s", "a x rounds"),
        _LAYOUT,
        _of(name, lambda model: model.fixed_ns / SECOND_NS),
        "the floor that no bandwidth lowers",
    )


def _rounds(name: str) -> Rule:
    return Rule(
        *("collectives", f"{name}_rounds", "1", f"rounds in {_FORMULAS[name]}"),
        _LAYOUT,
        _of(name, lambda model: model.rounds),
    )


def _bandwidth(name: str) -> Rule:
    def endless(*numbers: float) -> Told:
        cost = _model(name, *numbers).ns_per_byte
        return Told(SECOND_NS / cost if cost else None, "" if cost else "nothing moves")

    return Rule(
        *("collectives", f"{name}_bandwidth", "B/s", "size over time without latency"),
        _LAYOUT,
        endless,
    )


def _crossing(first: str, second: str) -> Rule:
    def compute(*numbers: float) -> Told:
        models = [_model(name, *numbers) for name in (first, second)]
        size = crossing_bytes(*models)
        if size is not None and size > 0:
            less = min(models, key=lambda model: model.fixed_ns).name
            return Told(size, f"{less} is faster below, the other above")
        costs = [(model.fixed_ns, model.ns_per_byte) for model in models]
        if costs[0] == costs[1]:
            return Told(None, "equal at every size")
        quicker = min(models, key=lambda model: (model.fixed_ns, model.ns_per_byte))
        return Told(None, f"nowhere: {quicker.name} is faster at every size")

    return Rule(
        *("collectives", f"{first}_{second}_crossing", "B"),
        "bytes at which both take the same time",
        _LAYOUT,
        compute,
    )


COLLECTIVES: Final = (
    Rule(
        *("collectives", "ring_slice_bytes", "B", "bucket_bytes / ranks"),
        ("bucket_bytes", "ranks"),
        slice_bytes,
        "what a rank sends in one round",
    ),
    *map(_time, MODELS),
    *(_crossing(first, second) for first, second in combinations(MODELS, 2)),
    *map(_latency, MODELS),
    *map(_rounds, MODELS),
    *map(_bandwidth, MODELS),
)
