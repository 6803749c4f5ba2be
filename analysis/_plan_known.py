"""Where the numbers of a plan come from: the card, the lake, or what is assumed."""

from collections.abc import Mapping
from math import ceil
from types import MappingProxyType
from typing import Any, Final

from analysis._plan_rules import Known, Rule, Sheet, Told
from analysis.latency_models import ROUND_BETWEEN_NS
from ingest.run_card import FIELDS

#: Columns of a card that a plan needs as they are.
_WORDS: Final = ("rank_order",)

#: Failures of a thousand nodes and a day, as published. [1/1000 node-days]
REFERENCE_RATES: Final[Mapping[str, tuple[float, str]]] = MappingProxyType(
    {
        "rsc_1": (6.50, "Meta RSC-1, arXiv 2410.21680"),
        "rsc_2": (2.34, "Meta RSC-2, arXiv 2410.21680"),
        "llama_3": (3.79, "Llama 3, arXiv 2407.21783"),
        "infinite_hbd": (4.20, "InfiniteHBD, its published trace"),
    }
)

#: What is assumed where nobody tells, with its reason.
_ASSUMED: Final[Mapping[str, tuple[float | str, str]]] = MappingProxyType(
    {
        "gpus_per_node": (8, "HGX boards hold 8"),
        "state_bytes_per_parameter": (16, "mixed-precision Adam, arXiv 1910.02054"),
        "data_bytes_per_token": (4, "a token as a 32-bit number"),
        "bucket_bytes": (25e6, "bucket of PyTorch DDP"),
        "weight_bytes": (2, "BF16 all-gather"),
        "gradient_bytes": (4, "FP32 reduce-scatter, arXiv 2407.21783"),
        "fabric_round_latency_us": (
            ROUND_BETWEEN_NS / 1e3,
            "NCCL, src/graph/tuning.cc",
        ),
        "checkpoint_restart_s": (300, "shortest of arXiv 2410.21680, 5 to 20 min"),
        "checkpoint_downtime_s": (0, "counted in the restart"),
        "fabric_levels": (1, "one tier of switches"),
        "rank_order": ("tp,cp,pp,dp", "order of a card without layout.order"),
        "reliability_per_1000_node_days": REFERENCE_RATES["rsc_1"],
    }
)

#: What to write on a card where one of several fields would do.
_ASKED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "active_parameters": "training.parameters",
        "checkpoint_bytes": "checkpoints.bytes or training.parameters",
        "checkpoint_stall_s": "checkpoints.stall_s or checkpoints.store_gbs",
        "communication_w": "hardware.communication_w",
        "fabric_pairs": "fabric.pairs or fabric.gpus_per_rack",
        "gpus": "hardware.gpus",
        "kv_hidden": "training.hidden",
        "nodes": "hardware.gpus",
        "ranks": "hardware.gpus",
        "total_tokens": "training.total_tokens",
    }
)

#: What follows from other numbers where nobody tells it, each after what it needs.
_FOLLOWS: Final = (
    Rule(
        *("", "ranks", "1", "tp x cp x pp x dp", ("tp", "cp", "pp", "dp")),
        lambda tp, cp, pp, dp: tp * cp * pp * dp,
    ),
    Rule("", "gpus", "1", "ranks of the layout", ("ranks",), lambda ranks: ranks),
    Rule("", "ranks", "1", "hardware.gpus", ("gpus",), lambda gpus: gpus),
    Rule(
        # a node in reserve is paid for, but no run stops with it
        *("", "nodes", "1", "ranks / gpus_per_node", ("ranks", "gpus_per_node")),
        lambda ranks, per_node: -(-ranks // per_node),
    ),
    Rule("", "active_parameters", "1", "parameters", ("parameters",), lambda p: p),
    Rule(
        *("", "planned_steps", "1", "total_tokens / tokens_per_step"),
        ("total_tokens", "tokens_per_step"),
        lambda total, tokens: ceil(total / tokens),
    ),
    Rule(
        *("", "total_tokens", "1", "planned_steps x tokens_per_step"),
        ("planned_steps", "tokens_per_step"),
        lambda steps, tokens: steps * tokens,
    ),
    Rule(
        *("", "step_s", "s", "6 active_parameters x tokens / (gpus x achieved rate)"),
        ("active_parameters", "tokens_per_step", "gpus", "achieved_tflops"),
        lambda parameters, tokens, gpus, rate: (
            6 * parameters * tokens / (gpus * rate * 1e12)
        ),
    ),
    Rule("", "nvlink_gbs", "GB/s", "network_gbs", ("network_gbs",), lambda gbs: gbs),
    Rule("", "kv_hidden", "1", "hidden", ("hidden",), lambda hidden: hidden),
    Rule(
        *("", "fabric_inside_latency_us", "us", "fabric.round_latency_us"),
        ("fabric_round_latency_us",),
        lambda latency: latency,
    ),
    Rule(
        *("", "fabric_pairs", "1", "fabric.gpus_per_rack, each with a partner"),
        ("fabric_gpus_per_rack",),
        lambda gpus: gpus,
    ),
    Rule(
        *("", "reliability_per_1000_node_days", "1/1000 node-days"),
        "interruptions / (nodes x observed_days) x 1000",
        ("reliability_interruptions", "nodes", "reliability_observed_days"),
        lambda count, nodes, days: count / (nodes * days) * 1000,
    ),
    Rule(
        *("", "checkpoint_bytes", "B", "parameters x state_bytes_per_parameter"),
        ("parameters", "state_bytes_per_parameter"),
        lambda parameters, state: parameters * state,
    ),
    Rule(
        *("", "checkpoint_stall_s", "s", "checkpoint_bytes / store_gbs"),
        ("checkpoint_bytes", "checkpoint_store_gbs"),
        lambda size, store: size / (store * 1e9),
    ),
    Rule(
        *("", "fabric_tiers", "1", "1 in a rack, 2 in a pod, 3 between pods"),
        ("gpus", "fabric_gpus_per_rack", "fabric_racks_per_pod"),
        lambda gpus, rack, racks: (
            1 if gpus <= rack else 2 if gpus <= rack * racks else 3
        ),
    ),
    Rule(
        *("", "fabric_levels", "1", "fabric.tiers", ("fabric_tiers",)),
        lambda tiers: tiers,
    ),
    Rule(
        *("", "microbatches", "1", "1: one stage has no bubble", ("pp",)),
        lambda pp: Told(1 if pp == 1 else None, ""),
    ),
    Rule(
        *("", "experts_per_token", "1", "1: experts are not spread", ("ep",)),
        lambda ep: Told(1 if ep == 1 else None, ""),
    ),
    Rule("", "checkpoint_writers", "1", "ranks", ("ranks",), lambda ranks: ranks),
    Rule(
        *("", "communication_w", "W", "0.1 x tdp_w: near idle, arXiv 2508.14318"),
        ("tdp_w",),
        lambda tdp: 0.1 * tdp,
    ),
)


def sheet_of(card: Mapping[str, Any], lake: Mapping[str, Known]) -> Sheet:
    """Return all numbers that are known before any line.

    The card is asked first, then what follows from it, then the lake, then what is
    assumed where nobody tells.

    Args:
        card: A row of RunCards.
        lake: Numbers of the run that telemetry tells.
    """
    told = {
        name: Known(card[name], f"card {path}")
        for name, path in FIELDS.items()
        if isinstance(card.get(name), int | float)
    }
    words = {
        name: Known(card[name], "card layout.order")
        for name in _WORDS
        if card.get(name) is not None
    }
    assumed = {
        name: Known(value, f"assumed: {why}") for name, (value, why) in _ASSUMED.items()
    }
    sheet = Sheet({**FIELDS, **_ASKED})
    for layer in (told | words, lake, assumed):
        sheet.add(layer)
        sheet.fill(_FOLLOWS)
    return sheet
