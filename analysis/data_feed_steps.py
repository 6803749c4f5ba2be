"""One row per step with what it was given, and how long it was blocked on that."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class DataFeedSteps(Table):
    """One row per step with what it was given, and how long it was blocked on that."""

    key: ClassVar = ("run_id", "attempt", "step")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    step = c.number("Optimizer step.")
    is_kept = c.flag("Whether no later attempt went back to it.")
    ranks_seen = c.number("Ranks with rows.", nullable=True)
    readers_seen = c.number(
        "Replicas with rows; ranks where no replica is told.", nullable=True
    )
    readers_expected = c.number("Those that should have rows.", nullable=True)
    samples = c.number("Samples given to replicas.", nullable=True)
    tokens = c.number("Tokens given to replicas.", nullable=True)
    imbalance_ratio = c.ratio(
        "Greatest sum of squared document lengths of a replica over their mean.",
        nullable=True,
    )
    imbalance_time_ratio = c.ratio(
        "Longer step expected of it, with the assumed share of attention.",
        nullable=True,
    )
    heaviest_dp_rank = c.index("Replica with that sum.", nullable=True)
    longest_document = c.number("Tokens of the longest document.", nullable=True)
    step_gpu_ns = c.gpu_time_ns("Time of its ranks.", nullable=True)
    data_gpu_ns = c.gpu_time_ns("Time that they were blocked on input.", nullable=True)
    data_ns_max = c.duration_ns("The longest that one of them was.", nullable=True)
    stalled_ranks = c.number(
        "Ranks blocked on input for more than the limit.", nullable=True
    )
