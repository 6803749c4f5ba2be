"""Lines of a plan: an all-reduce over all ranks by four algorithms, where they cross.

The models are those of `analysis.collective_models`: a line each, of rounds with their
latency and of bytes at the bandwidth of the links.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Final

from analysis._plan_collective_formulas import spread, written
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


def _lines(name: str) -> Iterator[Rule]:
    """Yield time, latency, rounds and bandwidth of an algorithm."""
    yield _line(name, "time", "s", _time)
    yield _line(name, "latency", "s", _latency, "the floor that no bandwidth lowers")
    yield _line(name, "rounds", "1", _rounds, "inside nodes, then between them")
    yield _line(name, "bandwidth", "B/s", _bandwidth)


def _line(
    name: str,
    what: str,
    unit: str,
    value: Callable[[Model, float], float | None],
    note: str = "",
) -> Rule:
    """Return a rule whose formula is that of the ranks' layout."""
    is_time = value is _time

    def compute(*numbers: float) -> Told:
        size, shape = (numbers[0], numbers[1:]) if is_time else (0.0, numbers)
        layout = _layout(*shape)
        found = value(_model(name, *shape), size)
        said = "; ".join(one for one in (note, spread(layout)) if one)
        formula = str(getattr(written(name, layout), what))
        return Told(found, said if found is not None else "nothing moves", formula)

    return Rule(
        *("collectives", f"{name}_{what}", unit, str(getattr(written(name), what))),
        ("bucket_bytes", *_LAYOUT) if is_time else _LAYOUT,
        compute,
    )


def _time(model: Model, size_bytes: float) -> float:
    return model.time_ns(size_bytes) / SECOND_NS


def _latency(model: Model, _: float) -> float:
    return model.fixed_ns / SECOND_NS


def _rounds(model: Model, _: float) -> float:
    return model.rounds


def _bandwidth(model: Model, _: float) -> float | None:
    return SECOND_NS / model.ns_per_byte if model.ns_per_byte else None


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
        f"({second}_latency - {first}_latency) /"
        f" (1 / {first}_bandwidth - 1 / {second}_bandwidth)",
        _LAYOUT,
        compute,
        "both take the same time",
    )


#: Lines of each algorithm.
_OF_MODELS: Final = [tuple(_lines(name)) for name in MODELS]

COLLECTIVES: Final = (
    Rule(
        *("collectives", "ring_slice_bytes", "B", "bucket_bytes / ranks"),
        ("bucket_bytes", "ranks"),
        slice_bytes,
        "what a rank sends in one round",
    ),
    *(lines[0] for lines in _OF_MODELS),
    *(_crossing(first, second) for first, second in combinations(MODELS, 2)),
    *(lines[place] for place in (1, 2, 3) for lines in _OF_MODELS),
)
