"""Kinds of operations that make a training step, in one spelling for every source.

Spelled as in the traces published with "Understanding Stragglers in Large Model
Training Using What-if Analysis" (arXiv 2505.05713). Others have words of their own:
MegaScan writes `forward`, NDTimeline of veScale `unshard-all-gather`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import polars as pl

FORWARD: Final = "forward-compute"
BACKWARD: Final = "backward-compute"
OPTIMIZER: Final = "optimizer"
GARBAGE: Final = "gc"
GATHER: Final = "params-all-gather"
SCATTER: Final = "grads-reduce-scatter"
SEPARATE: Final = "separate-grads-all-reduce"
LAYERNORM: Final = "layernorm-grads-all-reduce"
EMBEDDING: Final = "embedding-grads-all-reduce"
CLIP: Final = "optimizer-clip-main-grad"

#: Passes through a stage: they take turns on its one compute stream.
PASSES: Final = (FORWARD, BACKWARD)

#: Way of a transfer, to the kind that its peer records and how many stages further
#: that peer is. A combined operation sends and receives at once.
PEERS: Final[Mapping[str, tuple[str, int]]] = MappingProxyType(
    {
        "forward-send": ("forward-recv", 1),
        "forward-recv": ("forward-send", -1),
        "backward-send": ("backward-recv", -1),
        "backward-recv": ("backward-send", 1),
        "forward-send-backward-recv": ("backward-send-forward-recv", 1),
        "backward-send-forward-recv": ("forward-send-backward-recv", -1),
    }
)

#: All ranks that hold copies of the same parameters leave these together.
DP_KINDS: Final = (GATHER, SCATTER, SEPARATE)

#: What ranks leave together within some group; their ideal length is a median.
TRANSFERS: Final = (*PEERS, *DP_KINDS, LAYERNORM, EMBEDDING, CLIP)

#: Every kind that a replay knows.
KINDS: Final = (*PASSES, OPTIMIZER, GARBAGE, *TRANSFERS)

#: Their type in frames of a trace's operations.
KIND_TYPE: Final = pl.Enum(KINDS)

#: Words of sources for them, beside the kinds themselves.
_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "forward": FORWARD,
        "backward": BACKWARD,
        "optimizer-step": OPTIMIZER,
        "garbage-collection": GARBAGE,
        "unshard-all-gather": GATHER,
        "param-all-gather": GATHER,
        "params-allgather": GATHER,
        "grad-reduce-scatter": SCATTER,
        "grads-reducescatter": SCATTER,
        "grad-all-reduce": SCATTER,
        "layernorm-grads-allreduce": LAYERNORM,
        "embedding-grads-allreduce": EMBEDDING,
        "separate-grads-allreduce": SEPARATE,
    }
)


def known_kind(raw: pl.Expr) -> pl.Expr:
    """Return the kind that a source's word means, null where a replay has no use."""
    word = raw.str.to_lowercase().str.replace_all("[_ ]+", "-")
    words = {kind: kind for kind in KINDS} | dict(_WORDS)
    return word.replace_strict(
        list(words), list(words.values()), default=None, return_dtype=KIND_TYPE
    )
