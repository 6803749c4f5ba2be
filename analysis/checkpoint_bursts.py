"""What the store has to take when all ranks save at once, and what that stalls."""

from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._checkpoint_burst import SCHEMES, bursts_of
from analysis._checkpoint_columns import per_day
from analysis.checkpoint_evidence import CheckpointEvidence
from ingest.tables import Table
from ingest.tables import _columns as c


class CheckpointBursts(Table):
    """One row per run and way of writing."""

    key: ClassVar = ("run_id", "scheme")

    run_id = c.identifier("Run.")
    scheme = c.choice(
        "How a save is written: straight to the store while training stands still; to"
        " the node first and to the store behind the work, all nodes at once; the same"
        " with nodes in turns.",
        SCHEMES,
    )
    bytes = c.size_bytes("Size of a save, all ranks together.", nullable=True)
    bytes_basis = c.text("Where the size is from.")
    writer_count = c.count("Ranks that write at once.", nullable=True)
    turn_count = c.count(
        "Turns in which writers are let at the store; null where rates are unknown.",
        nullable=True,
    )
    demand_gbs = c.quantity(
        "What the writers of one turn can push.", "GB/s", nullable=True
    )
    store_gbs = c.quantity("What the store takes.", "GB/s", nullable=True)
    store_basis = c.choice(
        "Where that rate is from: the card, or the size of saves over the time until"
        " they were safe.",
        ("card", "saves", "none"),
    )
    demand_ratio = c.ratio("What writers push over what it takes.", nullable=True)
    least_gbs = c.quantity(
        "Rate that would do were a save spread over the whole period in use.",
        "GB/s",
        nullable=True,
    )
    burst_ns = c.duration_ns("Time that the store takes for a save.", nullable=True)
    stall_ns = c.duration_ns("Time that training stands still.", nullable=True)
    flush_ns = c.duration_ns("Time until the save is safe.", nullable=True)
    busy_ratio = c.ratio(
        "Share of the time that the store writes, at the best interval.", nullable=True
    )
    interval_ns = c.duration_ns("Best interval with that stall.", nullable=True)
    waste_ratio = c.ratio(
        "Share of time that is not useful work at that interval.", nullable=True
    )
    saved_gpu_ns_per_day = per_day(
        "GPU time of a day, in ns, that would be useful work instead, against the"
        " interval and stall in use; negative where it would be less."
    )
    reason = c.text("Why a number is not known.")


def find_bursts(evidence: pl.DataFrame) -> pl.DataFrame:
    """Say what each way of writing asks of the store and of the training.

    Args:
        evidence: Rows of CheckpointEvidence.

    Returns:
        A row of CheckpointBursts for each run and scheme. [ns, GB/s]
    """
    runs = evidence.sort("run_id").iter_rows(named=True)
    rows = [row for run in runs for row in bursts_of(run)]
    return pl.DataFrame(rows, schema=CheckpointBursts.create_empty().schema)


def _compute(frames: Frames, _: Thresholds) -> Results:
    return {CheckpointBursts: find_bursts(frames[CheckpointEvidence].collect())}


ANALYSIS: Final = Analysis(
    name="checkpoint_bursts",
    version=3,
    describes="What saves ask of the store when all ranks write at once",
    inputs=(CheckpointEvidence,),
    needs=(CheckpointEvidence,),
    outputs=(CheckpointBursts,),
    compute=_compute,
)
