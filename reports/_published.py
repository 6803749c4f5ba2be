"""Failure rates that others published, to stand beside our own."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PublishedRate:
    """A published rate per 1000 node-days.

    Attributes:
        label: Who, and on what.
        rate: Failures per 1000 node-days.
        low: Lower end of the exact 95 % interval; None where counts are not published.
        high: Upper end.
        counts: What was counted.
        source: Where it was published.
    """

    label: str
    rate: float
    low: float | None
    high: float | None
    counts: str
    source: str


#: In the order of their rate.
PUBLISHED: Final = (
    PublishedRate(
        "Meta RSC-1, A100",
        6.50,
        None,
        None,
        "node failures of jobs above 128 GPUs",
        "arXiv 2410.21680",
    ),
    PublishedRate(
        "InfiniteHBD trace",
        4.20,
        3.86,
        4.55,
        "node faults, 584 in 139 200 node-days",
        "InfiniteHBD, SIGCOMM 2025",
    ),
    PublishedRate(
        "Llama 3, H100",
        3.79,
        3.44,
        4.17,
        "job interruptions, 419 in 54 days of 2048 nodes",
        "arXiv 2407.21783",
    ),
    PublishedRate(
        "Meta RSC-2, A100",
        2.34,
        None,
        None,
        "node failures of jobs above 128 GPUs",
        "arXiv 2410.21680",
    ),
)
