"""Scores of ranks as NVIDIA's resiliency extension gives them."""

from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._replay_kinds import BACKWARD, FORWARD, OPTIMIZER, known_kind
from analysis._score_days import day_scores
from analysis._score_kernels import GPU, kernel_scores
from analysis._straggler_day_tables import StragglerDays, StragglerDaysRanks
from analysis._straggler_joined import condensed_runs, without
from analysis._straggler_sources import gather
from analysis._unlike_traces import of_one_run
from analysis.attempts import Attempts
from analysis.clock_offsets import ClockOffsets
from analysis.gpus import Gpus
from analysis.overlap import Overlap
from ingest.tables import (
    Collectives,
    Kernels,
    Operations,
    StepTimings,
    Table,
)
from ingest.tables import _columns as c

#: Score below which a rank is flagged: 0.5 is twice as slow. [1]
#: Source: nvidia-resiliency-ext, default of all four scores.
THRESHOLD: Final = 0.75

#: Steps of a report: medians are taken over so many. [1]
REPORT_STEPS: Final = 30

#: Section of a rank's own work in a step.
STEP: Final = "step"

_RANK: Final = ("run_id", "section", "rank")


class SectionScores(Table):
    """One row per run, section and rank with its scores."""

    key: ClassVar = _RANK

    run_id = c.identifier("Run that the row belongs to.")
    section = c.identifier(
        "What is scored: `step` (own work of a step), a kind of operation, or"
        " `gpu_kernels` (compute kernels that all ranks have)."
    )
    rank = c.index("Global rank.")
    median_ns = c.duration_ns(
        "Median length of the section, over reports; null of kernels.", nullable=True
    )
    relative_score = c.real(
        "Least median of all ranks over this rank's; null: not measured.", nullable=True
    )
    individual_score = c.real(
        "Best median of the rank so far over that of its last report; null: fewer than"
        " two reports.",
        nullable=True,
    )
    lowest_individual_score = c.real(
        "The least that the individual score was in any report.", nullable=True
    )
    reports_count = c.count(
        "Reports that the medians were taken in. Of a run whose steps are kept by day,"
        " a report ends with its day and attempt, too."
    )
    is_flagged = c.flag("Whether a score is below the threshold.")


_INPUTS: Final[tuple[type[Table], ...]] = (
    StepTimings,
    Kernels,
    Collectives,
    Operations,
    Overlap,
    ClockOffsets,
    Gpus,
    Attempts,
)


def score_sections(
    frames: Frames, threshold: float = THRESHOLD, report_steps: int = REPORT_STEPS
) -> pl.DataFrame:
    """Score each rank against the fastest, and against itself.

    A section's relative score is the least of the ranks' medians over the rank's own;
    its individual score is the rank's best median so far over the present one. Kernels
    are weighed by the time they take, and communication is left out. Own work stands
    for the section, where the extension times whole steps, which are as long on every
    rank. No score is no verdict: null means that nothing was measured.
    Source: nvidia-resiliency-ext, straggler detection; see also `find_stragglers`,
    which tests what these scores only compare with a number. Operations of several
    jobs in one run are not scored.
    Of a run whose steps are kept by day, reports are of steps of one attempt and day.

    Args:
        frames: Step timings, traces with their overlap and collectives, operations and
            attempts; ranks of days for runs that are kept so.
        threshold: Score below which a rank is flagged. [1]
        report_steps: Steps of a report. [1]

    Returns:
        Rows of SectionScores.
    """
    report = pl.col("step") // report_steps
    others = without(frames, _INPUTS, condensed_runs(frames))
    sections = pl.concat([_steps(others), _operations(frames)])
    medians = (
        sections.group_by(*_RANK, report=report)
        .agg(pl.col("value").median().cast(pl.Float64))
        .collect(engine="streaming")
    )
    scored = pl.concat(
        [
            _scored(medians),
            kernel_scores(frames[Kernels], report),
            day_scores(frames[StragglerDaysRanks], STEP),
        ],
        how="diagonal_relaxed",
    )
    scores = ("relative_score", "individual_score", "lowest_individual_score")
    below = pl.any_horizontal(pl.col(name) < threshold for name in scores)
    flagged = scored.with_columns(is_flagged=below.fill_null(value=False))
    length = pl.col("median_ns").round()
    rows = (
        flagged.with_columns(length)
        .select(SectionScores.column_names())
        .sort(SectionScores.key)
    )
    return SectionScores.validate(rows, cast=True)


def _steps(frames: Frames) -> pl.LazyFrame:
    work = (pl.col("duration_ns") - pl.col("wait_ns")).clip(0)
    return (
        gather(frames)
        .steps.filter(pl.col("wait_ns").is_not_null())
        .select("run_id", "rank", "step", section=pl.lit(STEP), value=work)
    )


def _operations(frames: Frames) -> pl.LazyFrame:
    kind = known_kind(Operations.kind.col).cast(pl.String)
    rows = of_one_run(frames[Operations]).select(
        "run_id", "rank", "step", section=kind, value="duration_ns"
    )
    return rows.filter(pl.col("section").is_in([FORWARD, BACKWARD, OPTIMIZER]))


def _scored(medians: pl.DataFrame) -> pl.DataFrame:
    """Score medians of reports: `run_id`, `section`, `rank`, `report` and `value`."""
    known = medians.filter(pl.col("value") > 0).sort(*_RANK, "report")
    own = pl.col("value").cum_min().over(_RANK) / pl.col("value")
    has_several = pl.len() > 1
    ranks = known.with_columns(own=own).group_by(_RANK, maintain_order=True)
    told = ranks.agg(
        median_ns=pl.col("value").median(),
        individual_score=pl.when(has_several).then(pl.col("own").last()),
        lowest_individual_score=pl.when(has_several).then(pl.col("own").min()),
        reports_count=pl.len().cast(pl.Int64),
    )
    least = pl.col("median_ns").min().over("run_id", "section")
    others = pl.col("rank").n_unique().over("run_id", "section") > 1
    score = pl.when(others).then(least / pl.col("median_ns"))
    return told.with_columns(relative_score=score)


def _compute(frames: Frames, thresholds: Thresholds) -> Results:
    threshold = thresholds["section_score_threshold"]
    steps = int(thresholds["section_report_steps"])
    return {SectionScores: score_sections(frames, threshold, steps)}


ANALYSIS: Final = Analysis(
    name="section_scores",
    version=4,
    describes="Scores of ranks as NVIDIA's resiliency extension gives them",
    inputs=(*_INPUTS, StragglerDays, StragglerDaysRanks),
    needs=(StepTimings, Kernels, Collectives, Operations, StragglerDaysRanks),
    outputs=(SectionScores,),
    compute=_compute,
    thresholds={
        "section_score_threshold": THRESHOLD,
        "section_report_steps": REPORT_STEPS,
    },
)

__all__ = ["ANALYSIS", "GPU", "SectionScores", "score_sections"]
