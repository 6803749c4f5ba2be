"""Steps of large runs, condensed a day at a time: over ranks, and over hours."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Frames, Results, Thresholds
from analysis._rollup import Day, Rollup
from analysis._step_rollup_block import part_blocks
from analysis._step_rollup_columns import COLUMNS, STALL_RATIO, with_ends
from analysis._step_rollup_dense import block_hours, block_rows, block_steps
from analysis._step_rollup_hours import Hours, hold_rows, row_sums
from analysis._step_rollup_means import mean_steps
from analysis._step_rollup_rows import number_occurrences, step_sums
from analysis._threads import in_threads
from analysis.rank_hours import RankHours
from ingest.tables import StepTimings, Table
from ingest.tables import _columns as c
from ingest.times import HOUR_NS


class StepRollups(Table):
    """One row per step of a run whose steps are condensed by day.

    What is lost: what each rank did in the step, but for the slowest. So a restart that
    no attempt tells is seen where steps repeat, not where single ranks went back, which
    is another thing in logs that lack the rows of many ranks.
    """

    key: ClassVar = ("run_id", "attempt", "step", "scope", "start_ns")
    day_column: ClassVar = "start_ns"

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index(
        "Attempt of the run; null where only the time can tell.", nullable=True
    )
    step = c.number("Optimizer step.")
    scope = c.choice(
        "What was told: each rank, or a mean over the run.", ("rank", "run_mean")
    )
    start_ns = c.time_ns(
        "Earliest start of a rank. A step that is done again has a row for each time,"
        " and a step in which midnight falls one for the ranks of either day."
    )
    end_ns = c.time_ns("Latest end of a rank.")
    ranks = c.tally("Ranks that told of the step; 1 for a mean over the run.")
    rows = c.tally("Rows of them; more where ranks told a step twice.")
    step_count = c.count("Steps that the rows average over.")
    duration_ns_total = c.duration_ns("Wall time, over all ranks.")
    duration_ns_max = c.duration_ns("Greatest wall time of a rank.")
    compute_ns_total = c.duration_ns("Time in own work, over all ranks.", nullable=True)
    communication_ns_total = c.duration_ns(
        "Time that only communication took, over all ranks.", nullable=True
    )
    wait_ns_total = c.duration_ns(
        "Time spent waiting for other ranks, over all ranks.", nullable=True
    )
    data_ns_total = c.duration_ns(
        "Time blocked on input, over all ranks.", nullable=True
    )
    checkpoint_ns_total = c.duration_ns(
        "Time blocked on a checkpoint, over all ranks.", nullable=True
    )
    compute_ranks = c.tally("Ranks that told their own work.")
    communication_ranks = c.tally("Ranks that told their communication.")
    wait_ranks = c.tally("Ranks that told their wait.")
    data_ranks = c.tally("Ranks that told their wait for input.")
    checkpoint_ranks = c.tally("Ranks that told their time on checkpoints.")
    wait_ns_max = c.duration_ns("Longest wait of a rank.", nullable=True)
    data_ns_max = c.duration_ns("Longest that a rank's input took.", nullable=True)
    checkpoint_ns_max = c.duration_ns(
        "Longest that a checkpoint took a rank.", nullable=True
    )
    stalled_ranks = c.tally(
        "Ranks that their input blocked for more than a share of their step.",
        nullable=True,
    )
    tokens = c.number("Tokens that the ranks trained on.", nullable=True)
    wait_scope = c.choice(
        "Which waits the source sees, the fewest of any rank.",
        ("dp", "all"),
        nullable=True,
    )
    clock = c.choice("Clock of the time stamps; device if of any.", ("host", "device"))
    slowest_work_ns = c.duration_ns(
        "Greatest own work of a rank, which is duration less wait, where that is told.",
        nullable=True,
    )
    slowest_rank = c.index("Rank that had it; the lowest of several.", nullable=True)
    typical_work_ns = c.duration_ns(
        "Median own work over ranks, in whole nanoseconds.", nullable=True
    )


def roll_steps(day: Day, stall_ratio: float = STALL_RATIO) -> Results:
    """Condense the steps of a run and a day.

    Args:
        day: Rows of StepTimings.
        stall_ratio: Share of its step from which a rank is stalled by its input. [1]

    Returns:
        Rows of StepRollups and of RankHours.
    """
    steps: list[pl.DataFrame] = [StepRollups.create_empty().drop("run_id")]
    hours = Hours()
    windows = (told for told in map(_told, day.read(COLUMNS, None)) if told.height)
    work = partial(_condensed, stall_ratio=stall_ratio)
    for found in in_threads(work, windows, day.jobs):
        hours.close_before(found.attempt, found.first_ns // HOUR_NS * HOUR_NS)
        hours.take(found.hours)
        steps += [one.select(steps[0].columns) for one in found.steps]
    run = pl.lit(day.owner).alias("run_id")
    return {
        StepRollups: pl.concat(steps).select(run, pl.all()).sort(StepRollups.key),
        RankHours: hours.result().select(run, pl.all()).sort(RankHours.key),
    }


@dataclass(frozen=True, slots=True)
class _Window:
    """What is kept of a window.

    Attributes:
        attempt: Its attempt.
        first_ns: Start of its first step. [ns]
        steps: Its steps over their ranks.
        hours: What ranks did in it.
    """

    attempt: int | None
    first_ns: int
    steps: list[pl.DataFrame]
    hours: Hours


def _condensed(rows: pl.DataFrame, stall_ratio: float) -> _Window:
    """Bring the ranks of each step of a window together, and the steps of each rank."""
    first_ns = int(rows["start_ns"].min())  # type: ignore[arg-type]
    found = _Window(rows["attempt"][0], first_ns, [], Hours())
    block, others = part_blocks(rows)
    if block is not None:
        found.steps.append(block_steps(block, stall_ratio))
        left = block_hours(block, found.hours)
        if left.any():
            _add_rows(with_ends(block_rows(block, left)), found.hours)
    if others.height:
        counted = number_occurrences(with_ends(others))
        found.steps.append(step_sums(counted, stall_ratio))
        _add_rows(counted.filter(pl.col("scope") == "rank"), found.hours)
    return found


def _add_rows(rows: pl.DataFrame, hours: Hours) -> None:
    hours.add(row_sums(rows))
    hold_rows(hours, rows)


def _told(window: pl.DataFrame) -> pl.DataFrame:
    """Leave out rows that name no rank and are no mean, and those without a time."""
    missing = window["start_ns"].null_count() + window["rank"].null_count()
    if not missing and window["scope"].max() == "rank":
        return window
    is_mean = pl.col("scope") == "run_mean"
    is_known = pl.col("start_ns").is_not_null()
    return window.filter(is_known & (is_mean | pl.col("rank").is_not_null()))


def _compute(day: Day, _: Frames, thresholds: Thresholds) -> Results:
    return roll_steps(day, thresholds["data_stall_ratio"])


ROLLUP: Final = Rollup(
    name="step_rollups",
    version=1,
    describes="Steps over all ranks, and ranks over each hour, of large runs",
    source=StepTimings,
    owner="run_id",
    inputs=(),
    outputs=(StepRollups, RankHours),
    compute=_compute,
    thresholds={"data_stall_ratio": STALL_RATIO},
    stand_in=lambda frames: mean_steps(frames[StepRollups]),
)
