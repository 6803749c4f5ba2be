"""Shares of useful time that others published, each with what it is a share of."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Peer:
    """A published share.

    Attributes:
        label: Who, and on what.
        column: Column of `goodput` that is a share of the same.
        ratio: The share. [1]
        is_least: Whether it is said to be more than this.
        definition: What it is a share of, in the words of its source.
        source: Where it was published.
    """

    label: str
    column: str
    ratio: float
    is_least: bool
    definition: str
    source: str


#: In the order of the share.
PEERS: Final = (
    Peer(
        "Gemini 1.x",
        "google_goodput_ratio",
        0.97,
        False,
        "goodput, after copies of the state in memory",
        "arXiv 2312.11805",
    ),
    Peer(
        "ByteRobust, dense",
        "ettr_without_queue_ratio",
        0.97,
        False,
        "ETTR without queue, 9,600 GPUs, 3 months",
        "arXiv 2509.16293",
    ),
    Peer(
        "Gemini 2.5",
        "google_goodput_ratio",
        0.93,
        False,
        "goodput",
        "arXiv 2507.06261",
    ),
    Peer(
        "ByteRobust, MoE",
        "ettr_without_queue_ratio",
        0.91,
        False,
        "ETTR without queue",
        "arXiv 2509.16293",
    ),
    Peer(
        "Llama 3 405B",
        "effective_training_ratio",
        0.90,
        True,
        "effective training time, 16,384 GPUs, 54 days",
        "arXiv 2407.21783",
    ),
    Peer(
        "Meta RSC-1, model",
        "ettr_ratio",
        0.70,
        False,
        "ETTR expected at 16,384 GPUs with a checkpoint each hour; a model, not a"
        " measurement",
        "arXiv 2410.21680",
    ),
)
