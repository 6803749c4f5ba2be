"""The shares of a run's time that the page tells, each with its one definition."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Measure:
    """A share of time.

    Attributes:
        column: Column of `goodput`.
        label: What it is called beside a bar.
        definition: What is divided by what.
        source: Who defines it so.
        meaning: Meaning of its colour.
    """

    column: str
    label: str
    definition: str
    source: str
    meaning: str = "productive"


#: In the order of the page: shares of clock time, then of what was paid for.
MEASURES: Final = (
    Measure(
        "effective_training_ratio",
        "effective training",
        "time in steps that counted, stalls for checkpoints left out, over the time"
        " from the first start to the end",
        "Llama 3, arXiv 2407.21783",
    ),
    Measure(
        "ettr_ratio",
        "ETTR",
        "the same time in steps, over the time from the first submission to the end,"
        " queues included",
        "Meta, arXiv 2410.21680",
    ),
    Measure(
        "ettr_without_queue_ratio",
        "ETTR without queue",
        "the same, the time in queues left out below the line",
        "ByteRobust, arXiv 2509.16293",
    ),
    Measure(
        "google_goodput_ratio",
        "Google goodput",
        "time from step to step, over the time from the first start to the end; a stop"
        " shows only where a step number comes again",
        "ml-goodput-measurement 0.2.3",
    ),
    Measure(
        "training_ratio",
        "paid, in steps",
        "GPU time in steps that counted, stalls for checkpoints left out, over all GPU"
        " time that was paid for",
        "the ledger",
        "paid",
    ),
    Measure(
        "goodput_ratio",
        "goodput",
        "GPU time that is productive, over all GPU time that was paid for: waits and"
        " exposed communication inside steps are lost, too",
        "the ledger",
        "paid",
    ),
)
