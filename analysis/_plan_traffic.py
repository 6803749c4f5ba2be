"""Lines of a plan: what each kind of parallelism sends, and how long that takes.

Bytes are those out of the port of one GPU in one step. Activations are BF16, tensor
parallelism shards sequences, too (arXiv 2205.05198), keys and values are gathered over
context-parallel ranks (arXiv 2407.21783, section 3.3.2).
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from analysis._plan_cost import GPU_TIME, spread_experts
from analysis._plan_rules import Rule, Told

#: Bytes of an activation. [B]
_ACTIVATION: Final = 2

#: Gathers and scatters of a layer: two of each forward, and backward.
_TENSOR_PASSES: Final = 8

#: Gathers of keys and values forward, and scatters of their gradients backward.
_CONTEXT_PASSES: Final = 2

#: All-to-alls of a layer: there and back, forward and backward.
_EXPERT_PASSES: Final = 4

_GIGA: Final = 1e9

_SHAPE: Final = ("tp", "cp", "pp", "dp")


class _Kind(NamedTuple):
    """A kind of parallelism: its bytes, and which ranks it joins."""

    name: str
    formula: str
    needs: tuple[str, ...]
    bytes_of: Callable[..., float | Told]
    axes: tuple[str, ...]
    hides: str


def _share(count: float) -> float:
    """Return what of a message leaves a GPU where each of them holds a slice. [1]"""
    return (count - 1) / count


def _data(buffer: float, dp: float, cp: float, ep: float) -> Told:
    return Told(buffer * _share(dp * cp), spread_experts(ep))


def _tensor(*numbers: float) -> float:
    layers, tokens, hidden, tp, cp, pp, dp = numbers
    activation = tokens / (dp * cp) * hidden * _ACTIVATION
    return _TENSOR_PASSES * layers / pp * activation * _share(tp)


def _pipeline(*numbers: float) -> float:
    tokens, hidden, vpp, tp, cp, pp, dp = numbers
    sent = 2 * vpp * tokens / (dp * cp * tp) * hidden * _ACTIVATION
    return sent if pp > 1 else 0.0


def _context(*numbers: float) -> float:
    layers, tokens, width, tp, cp, pp, dp = numbers
    keys_and_values = 2 * tokens / dp * width / tp * _ACTIVATION
    return _CONTEXT_PASSES * layers / pp * keys_and_values * _share(cp)


def _expert(*numbers: float) -> float:
    layers, tokens, hidden, ep, experts, tp, cp, pp, dp = numbers
    sent = tokens / (dp * cp * tp) * experts * hidden * _ACTIVATION
    return _EXPERT_PASSES * layers / pp * sent * _share(ep)


_KINDS: Final = (
    _Kind(
        "data",
        "data_buffer_bytes x (n - 1) / n, n = dp x cp",
        ("data_buffer_bytes", "dp", "cp", "ep"),
        _data,
        ("dp", "cp"),
        "can hide: scatter behind the backward pass, gather behind the forward pass",
    ),
    _Kind(
        "tensor",
        "8 x layers / pp x tokens_per_step / (dp x cp) x hidden x 2 B x (tp - 1) / tp",
        ("layers", "tokens_per_step", "hidden", *_SHAPE),
        _tensor,
        ("tp",),
        "hardly hides: the next operation needs it",
    ),
    _Kind(
        "pipeline",
        "2 x vpp x tokens_per_step / (dp x cp x tp) x hidden x 2 B where pp > 1",
        ("tokens_per_step", "hidden", "vpp", *_SHAPE),
        _pipeline,
        ("pp",),
        "can hide behind other micro-batches, not while the pipeline fills and drains",
    ),
    _Kind(
        "context",
        "2 x layers / pp x 2 x tokens_per_step / dp x kv_hidden / tp x 2 B"
        " x (cp - 1) / cp",
        ("layers", "tokens_per_step", "kv_hidden", *_SHAPE),
        _context,
        ("cp",),
        "hides in part: attention can begin with its own keys",
    ),
    _Kind(
        "expert",
        "4 x layers / pp x tokens_per_step / (dp x cp x tp) x experts_per_token x"
        " hidden x 2 B x (ep - 1) / ep",
        ("layers", "tokens_per_step", "hidden", "ep", "experts_per_token", *_SHAPE),
        _expert,
        ("ep",),
        "hides only behind another micro-batch or shared experts",
    ),
)


def _span(order: str, sizes: Sequence[float], axes: Sequence[str], ep: float) -> float:
    """Return over how many neighbouring ranks groups of some axes reach. [1]

    Experts are spread over replicas, so that their groups lie where replicas do.
    """
    by_axis = dict(zip(_SHAPE, sizes, strict=True))
    reach, span = 1.0, 1.0
    for axis in order.split(","):
        is_in = axis in axes or (axis == "dp" and "ep" in axes)
        width = ep if axis == "dp" and "ep" in axes else by_axis[axis]
        reach *= width
        span = reach if is_in and width > 1 else span
    return span


def _time(axes: tuple[str, ...], hides: str, *numbers: float | str) -> Told:
    """Return the time of bytes at the link that their group needs. [s]"""
    size, nvlink, network, per_node, order, ep, *sizes = numbers
    span = _span(str(order), [float(one) for one in sizes], axes, float(ep))
    if float(size) == 0:
        return Told(0.0, "nothing is sent")
    is_inside = span <= float(per_node)
    link = float(nvlink if is_inside else network)
    where = "inside the node" if is_inside else "between nodes"
    at = f"at {link:.10g} GB/s {where}: groups reach over {span:.10g} ranks"
    return Told(float(size) / (link * _GIGA), f"{at}; {hides}")


def _rules(kind: _Kind) -> tuple[Rule, Rule, Rule]:
    size, time = f"{kind.name}_bytes", f"{kind.name}_time"
    links = ("nvlink_gbs", "network_gbs", "gpus_per_node", "rank_order", "ep")

    def timed(*numbers: float | str) -> Told:
        return _time(kind.axes, kind.hides, *numbers)

    return (
        Rule("traffic", size, "B", kind.formula, kind.needs, kind.bytes_of),
        Rule(
            *("traffic", time, "s", f"{size} / (nvlink_gbs or network_gbs)"),
            (size, *links, *_SHAPE),
            timed,
        ),
        Rule(
            *("traffic", f"{kind.name}_exposed", GPU_TIME),
            f"gpus x {time} x planned_steps",
            ("gpus", time, "planned_steps"),
            lambda gpus, seconds, steps: gpus * seconds * steps,
            "if nothing of it hides",
        ),
    )


TRAFFIC: Final = (
    Rule(
        *("traffic", "data_buffer_bytes", "B"),
        "parameters / (tp x pp) x (weight_bytes + gradient_bytes)",
        ("parameters", "tp", "pp", "weight_bytes", "gradient_bytes", "ep"),
        lambda parameters, tp, pp, weight, gradient, ep: Told(
            parameters / (tp * pp) * (weight + gradient), spread_experts(ep)
        ),
        "weights gathered and gradients scattered once a step",
    ),
    *(rule for kind in _KINDS for rule in _rules(kind)),
)
