"""Whether each sample was given once, and what the loader cost where it was not."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._feed_answers import Feed, answer
from analysis._feed_rows import PORTION_ROWS
from analysis._step_rollup_columns import STALL_RATIO
from analysis.attempts import Attempts
from analysis.data_feed_steps import DataFeedSteps
from analysis.lost_time import LostTime
from analysis.runs import Runs
from analysis.step_rollups import StepRollups
from ingest.tables import (
    Checkpoints,
    DataReads,
    Kernels,
    Operations,
    StepTimings,
    Table,
)
from ingest.tables import _columns as c

#: Share of a step's compute that grows with the square of document lengths, assumed:
#: causal attention of s tokens has s / (12 h + s) of the FLOPs of a dense layer of
#: width h (Narayanan et al., arXiv 2104.04473), 14 % at 8,192 tokens and width 4,096.
ATTENTION_SHARE: Final = 0.14

#: Kinds of fault.
KINDS: Final = (
    *("given_twice", "left_out", "ranks_disagree"),
    *("restart_repeats", "restart_skips"),
)

#: What can be said of a feed.
VERDICTS: Final = ("complete", "violations", "cannot tell")


class DataFeedViolations(Table):
    """One row per step, data set and way in which a feed went wrong."""

    key: ClassVar = ("run_id", "attempt", "step", "kind", "dataset", "epoch")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    step = c.number("Step that was given what it should not, or the first after a gap.")
    kind = c.choice("What went wrong.", KINDS)
    dataset = c.identifier("Data set.", nullable=True)
    epoch = c.number("Pass over the data set.", nullable=True)
    ranks = c.text(
        "Ranks with those samples in that step; beside a gap, its neighbours."
    )
    dp_ranks = c.text("Their data-parallel replicas.")
    sample_from = c.number("First sample.", nullable=True)
    sample_to = c.number("Sample after the last.", nullable=True)
    samples_count = c.count("Samples given twice or left out.", nullable=True)
    other_attempt = c.index("Attempt of the step before.", nullable=True)
    other_step = c.number(
        "Step that had the samples before, or that ends where they are left out; of a"
        " restart in any order, the step that it began with instead.",
        nullable=True,
    )
    gpu_ns = c.gpu_time_ns(
        "GPU time that it took for nothing; null where it took none, or it is not"
        " known.",
        nullable=True,
    )
    cost_basis = c.text("What the GPU time is, or why there is none.")
    evidence = c.text("What was read, in words.")


class DataFeed(Table):
    """One row per run of which something tells what its loader did."""

    key: ClassVar = ("run_id",)

    run_id = c.identifier("Run.")
    verdict = c.choice("Whether every sample was given once.", VERDICTS)
    blind_spots = c.text("What cannot be told, and why.")
    violations_count = c.count("Rows of data_feed_violations.")
    steps_count = c.count("Kept steps with reads.")
    redone_count = c.count("Steps with reads that a later attempt did again.")
    ranks = c.number("Most ranks with rows in a step.", nullable=True)
    readers = c.number("Replicas expected; ranks where none is told.", nullable=True)
    lacking_count = c.count("Kept steps that lack rows of one of them.")
    samples = c.number("Samples that kept steps were given.", nullable=True)
    is_ordered = c.flag(
        "Whether samples came in order in every pass; null without ranges.",
        nullable=True,
    )
    lost_gpu_ns = c.gpu_time_ns(
        "GPU time of violations, where it is known.", nullable=True
    )
    imbalance_ratio = c.ratio("Mean of that of its kept steps.", nullable=True)
    imbalance_time_ratio = c.ratio(
        "Longer step expected of it, with the assumed share of attention.",
        nullable=True,
    )
    work_correlation = c.real(
        "Correlation of squared lengths and own work of replicas, each over the mean of"
        " its step; null where a step log does not tell both, or of too few.",
        nullable=True,
    )
    work_count = c.count("Replicas and steps that it is of.", nullable=True)
    longest_document = c.number("Tokens of the longest document.", nullable=True)
    stalled_count = c.count("Kept steps with a stalled rank.", nullable=True)
    stalled_gpu_ns = c.gpu_time_ns("Time blocked on input in those.", nullable=True)
    data_stall_gpu_ns = c.gpu_time_ns(
        "Account data_stall of the ledger.", nullable=True
    )


def audit_feeds(
    frames: Frames,
    portion_rows: int = PORTION_ROWS,
    stall_ratio: float = STALL_RATIO,
    attention_share: float = ATTENTION_SHARE,
) -> dict[type[Table], dy.DataFrame[Table]]:
    """Hold what loaders gave against what they should have given.

    Within a pass over a data set no two replicas or kept steps share a sample, and
    none is left out between them; ranks of a replica have the same batch; an attempt
    goes on where the last kept step ended. Steps that a restart does again are meant
    to read their samples again. What rows do not tell is not judged, and named.

    Args:
        frames: Data reads, attempts, runs, step timings, checkpoints, kernels,
            operations and the ledger.
        portion_rows: Rows of reads to hold at once. [1]
        stall_ratio: Share of its step from which a rank is stalled. [1]
        attention_share: Share of compute that grows with squared lengths. [1]
    """
    feed = Feed(
        reads=frames[DataReads],
        attempts=frames[Attempts],
        runs=frames[Runs],
        timings=frames[StepTimings],
        rollups=frames[StepRollups],
        checkpoints=frames[Checkpoints],
        traces=pl.concat(
            frames[one].select("trace_id") for one in (Kernels, Operations)
        ),
        ledger=frames[LostTime],
    )
    told = answer(feed, portion_rows, stall_ratio, attention_share)
    tables = (DataFeedViolations, DataFeedSteps, DataFeed)
    return {
        table: table.validate(
            rows.select(table.column_names()).sort(table.key), cast=True
        )
        for table, rows in zip(tables, told, strict=True)
    }


def _compute(frames: Frames, thresholds: Thresholds) -> Results:
    return audit_feeds(
        frames,
        stall_ratio=thresholds["data_stall_ratio"],
        attention_share=thresholds["attention_share"],
    )


ANALYSIS: Final = Analysis(
    name="data_feed",
    version=2,
    describes="Whether each sample was given once, and what the loader cost",
    inputs=(
        *(DataReads, Attempts, Runs, StepTimings, StepRollups, Checkpoints),
        *(Kernels, Operations, LostTime),
    ),
    needs=(DataReads, StepTimings, Checkpoints, LostTime),
    outputs=(DataFeedViolations, DataFeedSteps, DataFeed),
    compute=_compute,
    thresholds={
        "data_stall_ratio": STALL_RATIO,
        "attention_share": ATTENTION_SHARE,
    },
)
