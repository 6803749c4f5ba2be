"""How each run saves its state, what that costs, and how often it needs it."""

from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._checkpoint_gathered import gather
from analysis._checkpoint_mtbf import FEW_EVENTS, SOURCES
from analysis._checkpoint_run import describe
from analysis._checkpoint_saves import LEAST_STALL_RATIO
from analysis.attempts import Attempts
from analysis.interrupt_rates import InterruptRates
from analysis.interruptions import Interruptions
from analysis.runs import Runs
from analysis.spare_plans import SparePlans
from analysis.step_rollups import StepRollups
from ingest.tables import Checkpoints, RunCards, StepTimings, Table
from ingest.tables import _columns as c


class CheckpointEvidence(Table):
    """One row per run with saves, loads or a card that speaks of checkpoints."""

    key: ClassVar = ("run_id",)

    run_id = c.identifier("Run.")
    gpu_count = c.count("GPUs that it holds at once.", nullable=True)
    node_count = c.quantity("Nodes that it holds at once, by time.", "1", nullable=True)
    step_ns = c.duration_ns("Median step of its slowest rank.", nullable=True)
    save_count = c.count("Saves that were seen, all ranks together.")
    failed_save_count = c.count(
        "Saves that were begun and never done or safe; null where the source tells"
        " neither.",
        nullable=True,
    )
    elsewhere_save_count = c.count(
        "Saves under the run's name that are left out: more than a day outside it, or"
        " of a step beyond 100 times its last."
    )
    older_resume_count = c.count("Restarts that did not come back to the newest save.")
    interval_ns = c.duration_ns(
        "Work between two saves, median, without the stall.", nullable=True
    )
    interval_steps = c.number("Steps between two saves, median.", nullable=True)
    interval_basis = c.choice(
        "Where the interval is from: saves that were told of, steps that stood still"
        " for one, the run's card.",
        ("saves", "steps", "card", "none"),
    )
    stall_ns = c.duration_ns(
        "Time that training stands still for a save, median of the slowest rank.",
        nullable=True,
    )
    stall_basis = c.choice(
        "Where the stall is from; held: the time until a save was done, an upper"
        " bound, as no source tells what of it stalled.",
        ("saves", "steps", "card", "held", "none"),
    )
    flush_ns = c.duration_ns(
        "Time until a save is safe: the shortest interval, and the age of the newest"
        " safe copy.",
        nullable=True,
    )
    near_stall_ns = c.duration_ns(
        "Stall of a save to the near of two tiers.", nullable=True
    )
    far_stall_ns = c.duration_ns("Stall of one to the far tier.", nullable=True)
    tiers_basis = c.choice(
        "Where two stalls are from: tiers of saves, or the card's rates of a local"
        " tier, the far stall being that of the run.",
        ("saves", "card", "none"),
    )
    far_ratio = c.ratio(
        "Share of interruptions that take a node, and what is saved on it, along."
    )
    far_basis = c.choice(
        "Where that share is from: 5 interruptions or more, or Llama 3 (78 % of"
        " hardware, arXiv 2407.21783).",
        ("interruptions", "published"),
    )
    store_gbs = c.quantity(
        "Rate of the store, all writers together, on the run card.",
        "GB/s",
        nullable=True,
    )
    local_gbs = c.quantity(
        "Rate of a node's local tier, on the run card.", "GB/s", nullable=True
    )
    network_gbs = c.quantity(
        "Bandwidth of a GPU between nodes, on the run card.", "GB/s", nullable=True
    )
    writer_count = c.count("Ranks that write at once.", nullable=True)
    repair_ns = c.duration_ns("Time until a failed node is back.", nullable=True)
    repair_basis = c.choice(
        "Where that is from: nodes of later attempts, ends of failures in logs (as for"
        " spare_plans), or the run card.",
        ("attempts", "failures", "run_card"),
        nullable=True,
    )
    planned_ns = c.duration_ns(
        "Time of the steps that the run card plans, at the median step.", nullable=True
    )
    seen_ns = c.duration_ns("Time that attempts were seen.", nullable=True)
    load_count = c.count("Loads that were seen.")
    load_ns = c.duration_ns("Time of a load, median.", nullable=True)
    bytes = c.size_bytes("Size of a save, all ranks together.", nullable=True)
    bytes_basis = c.choice(
        "Where the size is from; parameters: those of the card times its state of"
        " each, or 16 B (arXiv 1910.02054) where the card does not tell.",
        ("saves", "card", "parameters", "none"),
    )
    tiers = c.text("Where saves went, separated by commas.")
    interruption_count = c.count("Unplanned interruptions that were seen.")
    downtime_ns = c.duration_ns(
        "Time from the last step to the next start, mean.", nullable=True
    )
    downtime_median_ns = c.duration_ns("The same, median.", nullable=True)
    restart_ns = c.duration_ns(
        "Time from a start to the first new step, mean.", nullable=True
    )
    restart_median_ns = c.duration_ns("The same, median.", nullable=True)
    restart_basis = c.choice(
        "Where downtime and restart are from.", ("interruptions", "card", "none")
    )
    mtbf_ns = c.duration_ns("Mean time between interruptions.", nullable=True)
    mtbf_low_ns = c.duration_ns("Lower end of its range.", nullable=True)
    mtbf_high_ns = c.duration_ns("Upper end; null where unbounded.", nullable=True)
    mtbf_source = c.choice("Where that time is from, best first.", SOURCES)
    mtbf_words = c.text("What it was taken from, in words.")
    mtbf_chance_ratio = c.ratio(
        "Chance of as many interruptions as were seen, or more (or as few, where the"
        " mean time lets expect more), at a mean time that is not the run's own.",
        nullable=True,
    )


#: Every threshold of the evidence, with its default.
THRESHOLDS: Final = {
    "checkpoint_least_stall_ratio": LEAST_STALL_RATIO,
    "checkpoint_few_events": FEW_EVENTS,
}


def find_evidence(frames: Frames, thresholds: Thresholds = THRESHOLDS) -> pl.DataFrame:
    """Tell how each run saves, what a save costs and how often one is needed.

    Only the stall of a save is a cost to the work; the flush behind it is the shortest
    interval there can be. What no source tells is taken from the run's card, and null
    where that is silent.

    Args:
        frames: Checkpoints, steps, attempts, runs, cards, interruptions, rates and
            plans of spares.
        thresholds: `checkpoint_least_stall_ratio`, `checkpoint_few_events`.

    Returns:
        One row per run that saves, loads, or whose card speaks of checkpoints. [ns]
    """
    least, few = (thresholds[name] for name in THRESHOLDS)
    gathered = gather(frames, least).iter_rows(named=True)
    rows = [describe(row, few) for row in gathered]
    schema = CheckpointEvidence.create_empty().schema
    return pl.DataFrame(rows, schema=schema).sort(CheckpointEvidence.key)


def _compute(frames: Frames, thresholds: Thresholds) -> Results:
    return {CheckpointEvidence: find_evidence(frames, thresholds)}


ANALYSIS: Final = Analysis(
    name="checkpoint_evidence",
    version=3,
    describes="How runs save their state, what it costs, and how often it is needed",
    inputs=(
        Checkpoints,
        StepTimings,
        StepRollups,
        Attempts,
        Runs,
        RunCards,
        Interruptions,
        InterruptRates,
        SparePlans,
    ),
    outputs=(CheckpointEvidence,),
    compute=_compute,
    thresholds=THRESHOLDS,
)
