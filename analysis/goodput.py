"""How much of its time a run made progress: ETTR, goodput and MFU, each defined once.

They have different denominators, and are never multiplied with each other.
"""

from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._goodput_ratios import MFU_REASONS, REASONS, with_ratios
from analysis._goodput_steps import count_steps, logged_steps, step_starts
from analysis._goodput_time import account_sums, run_times, training_times
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.interruptions import Interruptions
from analysis.lost_time import LostTime
from analysis.overlap import Overlap
from analysis.runs import Runs
from analysis.step_rollups import StepRollups
from ingest.tables import RunCards, StepTimings, Table
from ingest.tables import _columns as c

#: Share of the paid time without evidence above which nothing is said of useful work:
#: what is left would be a small part that speaks for the whole. [1]
UNATTRIBUTED_MAX_RATIO: Final = 0.5


class Goodput(Table):
    """One row per run."""

    key: ClassVar = ("run_id",)

    run_id = c.identifier("Run.")
    start_ns = c.time_ns("When its first attempt was submitted, else started.")
    end_ns = c.time_ns("When its last attempt ended.")
    wall_ns = c.duration_ns("From there to there: its time with all queueing.")
    elapsed_ns = c.duration_ns("From the start of its first attempt to its end.")
    queue_ns = c.duration_ns(
        "Time between each submission and the start that followed, while none ran."
    )
    training_ns = c.quantity(
        "Time in steps that counted, stalls for checkpoints left out, over the ranks"
        " of each attempt.",
        "ns",
        nullable=True,
    )
    paid_gpu_ns = c.gpu_time_ns("GPU time that was paid for.")
    productive_gpu_ns = c.gpu_time_ns(
        "Of it the ledger's account `productive`; null where no step is known.",
        nullable=True,
    )
    training_gpu_ns = c.gpu_time_ns(
        "Of it all of the steps that counted but stalls for checkpoints: productive,"
        " exposed communication, waits, bubbles, data stalls and idle time.",
        nullable=True,
    )
    checkpoint_stall_gpu_ns = c.gpu_time_ns("Of it stalls for checkpoints.")
    recompute_gpu_ns = c.gpu_time_ns("Of it steps that were done again.")
    restart_gpu_ns = c.gpu_time_ns("Of it time until the run went on.")
    unallocated_gpu_ns = c.gpu_time_ns("Of it GPUs that were no ranks.")
    unattributed_gpu_ns = c.gpu_time_ns("Of it time without evidence.")
    is_upper_bound = c.flag(
        "Whether some useful work is bounded from above only: by step durations."
    )
    steps_kept = c.number("Steps that counted; null without a step log.", nullable=True)
    steps_repeated = c.number("Steps that were done again.", nullable=True)
    kept_step_ns = c.gpu_time_ns(
        "Length of the steps that counted, each the mean of its ranks.", nullable=True
    )
    interruptions_count = c.count("Stops that nobody had planned.")
    planned_count = c.count("Stops that were planned.")
    tokens = c.number(
        "Tokens of the steps that counted, by the run card's step.", nullable=True
    )
    ettr_ratio = c.ratio(
        "Training time over the run's wall-clock time with its queues (Meta, arXiv"
        " 2410.21680, section II).",
        nullable=True,
    )
    ettr_without_queue_ratio = c.ratio(
        "The same without the time in queues (ByteRobust, arXiv 2509.16293).",
        nullable=True,
    )
    effective_training_ratio = c.ratio(
        "Training time over the time from the first start (Llama 3, arXiv 2407.21783,"
        " section 3.3.4).",
        nullable=True,
    )
    goodput_ratio = c.ratio(
        "Productive over paid GPU time: the strictest, all that a GPU waited is lost.",
        nullable=True,
    )
    training_ratio = c.ratio(
        "Training over paid GPU time: whatever a step that counted was made of.",
        nullable=True,
    )
    google_goodput_ratio = c.ratio(
        "Time from step to step over the time from the first start, as"
        " ml-goodput-measurement v0.2.3 counts it: a stop shows only where a step comes"
        " again.",
        nullable=True,
    )
    unknown_reason = c.choice(
        "Why the ratios of useful work are not known.", REASONS, nullable=True
    )
    mfu_ratio = c.ratio(
        "6 x active parameters x tokens over peak x ranks x time in steps that counted"
        " (PaLM, arXiv 2204.02311).",
        nullable=True,
    )
    paid_mfu_ratio = c.ratio(
        "The same FLOPs over peak x all paid GPU time.", nullable=True
    )
    mfu_reason = c.choice("Why MFU is not known.", MFU_REASONS, nullable=True)


def measure_goodput(frames: Frames, thresholds: Thresholds) -> Results:
    """Tell how much of its time each run made progress.

    What is productive is the ledger's. A run without any step, one that only traces
    tell of, and one whose time is mostly unattributed have no ratio, and the reason.
    """
    most = thresholds["goodput_unattributed_max_ratio"]
    ratios = with_ratios(_gathered(frames), most)
    is_known = pl.col("has_steps").fill_null(value=False)
    useful = pl.col("training_ns", "productive_gpu_ns", "training_gpu_ns")
    told = ratios.with_columns(pl.when(is_known).then(useful).name.keep())
    rows = told.select(Goodput.column_names()).sort(Goodput.key)
    return {Goodput: Goodput.validate(rows, cast=True)}


def _gathered(frames: Frames) -> pl.DataFrame:
    """Return what is known of each run that was paid for, side by side."""
    attempts, lost = frames[Attempts], frames[LostTime]
    steps = logged_steps(frames)
    is_planned = Interruptions.planned.col
    stops = (
        frames[Interruptions]
        .group_by("run_id")
        .agg(
            interruptions_count=(~is_planned).sum().cast(pl.Int64),
            planned_count=is_planned.sum().cast(pl.Int64),
        )
    )
    card = frames[RunCards].select(
        "run_id",
        RunCards.peak_tflops.name,
        active_parameters=pl.coalesce(
            RunCards.active_parameters.name, RunCards.parameters.name
        ),
    )
    beside = [
        account_sums(lost, ("run_id",)),
        training_times(lost, frames[Allocations], attempts),
        count_steps(steps).lazy(),
        step_starts(steps).lazy(),
        stops,
        card,
        frames[Runs].select("run_id", Runs.tokens_per_step.name),
    ]
    rows = run_times(attempts).join(beside[0], on="run_id")
    for one in beside[1:]:
        rows = rows.join(one, on="run_id", how="left")
    counts = pl.col("interruptions_count", "planned_count").fill_null(0)
    return rows.with_columns(counts).collect()


ANALYSIS: Final = Analysis(
    name="goodput",
    version=2,
    describes="How much of its time a run made progress: ETTR, goodput, MFU",
    inputs=(
        Attempts,
        Runs,
        RunCards,
        Allocations,
        Interruptions,
        LostTime,
        Overlap,
        StepTimings,
        StepRollups,
    ),
    needs=(LostTime,),
    outputs=(Goodput,),
    compute=measure_goodput,
    thresholds={"goodput_unattributed_max_ratio": UNATTRIBUTED_MAX_RATIO},
)
