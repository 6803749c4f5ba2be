"""Find the GPUs that make the others wait."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._straggler_answers import slow_things, tested_runs, with_parts
from analysis._straggler_day_tables import (
    StragglerDays,
    StragglerDaysEvidence,
    StragglerDaysRanks,
    StragglerDaysSpells,
    StragglerDaysSteps,
)
from analysis._straggler_joined import (
    condensed_runs,
    joined_spells,
    without,
)
from analysis._straggler_joined_steps import joined_steps
from analysis._straggler_joined_tests import joined_tests
from analysis._straggler_limits import THRESHOLDS, Limits
from analysis._straggler_search import search
from analysis._straggler_tables import (
    StragglerEvidence,
    StragglerRanks,
    StragglerSteps,
    StragglerTests,
)
from analysis._straggler_work import PORTION_ROWS
from analysis.attempts import Attempts
from analysis.clock_offsets import ClockOffsets
from analysis.gpus import Gpus
from analysis.overlap import Overlap
from ingest.tables import (
    Collectives,
    Failures,
    Kernels,
    LinkSamples,
    Operations,
    PowerSamples,
    StepTimings,
    Table,
)

_INPUTS: Final[tuple[type[Table], ...]] = (
    StepTimings,
    Kernels,
    Collectives,
    PowerSamples,
    Failures,
    LinkSamples,
    Operations,
    Attempts,
    Gpus,
    Overlap,
    ClockOffsets,
)

_DAYS: Final[tuple[type[Table], ...]] = (
    StragglerDays,
    StragglerDaysSpells,
    StragglerDaysEvidence,
    StragglerDaysSteps,
    StragglerDaysRanks,
)


def find_stragglers(
    frames: Frames, limits: Limits | None = None, portion_rows: int = PORTION_ROWS
) -> Results:
    """Find what is slow, beyond chance and beyond what is normal, and what it costs.

    Every rank's own work (duration without waits) is held against the median of its
    peers in the same step and stage. The medians of blocks of steps are tested
    against a slowdown that healthy GPUs show, all ranks, hosts, racks, replicas and
    stages of a run together. What was slow for a while must also differ from itself
    in the rest of the run. A healthy fleet flags nobody: there is no top of a list.

    Args:
        frames: Step timings, traces with their overlap and collectives, attempts and
            seats; for causes power samples, failures, samples of links and operations;
            tables of days for runs that are kept so.
        limits: What counts as slow.
        portion_rows: Steps of ranks to hold at once. [1]

    Returns:
        Rows of StragglerSteps, StragglerRanks, StragglerEvidence and StragglerTests.
    """
    runs = condensed_runs(frames)
    others = without(frames, _INPUTS, runs)
    found = search(others, limits or Limits(), portion_rows)
    slow, evidence = slow_things(found, others)
    searched = {
        StragglerSteps: found.totals,
        StragglerRanks: slow,
        StragglerEvidence: evidence,
        StragglerTests: tested_runs(found, others),
    }
    answers = {table: _rows(table, rows) for table, rows in searched.items()}
    if not runs:
        return answers
    joined = {table: _rows(table, rows) for table, rows in _joined(frames, runs)}
    both = {table: pl.concat([answers[table], joined[table]]) for table in answers}
    return {table: rows.sort(table.key) for table, rows in both.items()}


def _joined(
    frames: Frames, runs: list[str]
) -> Iterator[tuple[type[Table], pl.DataFrame]]:
    """Yield what days that were condensed tell of their runs."""
    steps = joined_steps(frames)
    slow, evidence = joined_spells(frames)
    yield StragglerSteps, steps
    yield StragglerRanks, with_parts(slow)
    yield StragglerEvidence, evidence
    yield StragglerTests, joined_tests(frames, steps, runs)


def _rows(table: type[Table], rows: pl.DataFrame) -> pl.DataFrame:
    if rows.is_empty():
        return table.create_empty()
    return table.validate(rows.select(table.column_names()).sort(table.key), cast=True)


def _compute(frames: Frames, thresholds: Thresholds) -> Results:
    return find_stragglers(frames, Limits.of(thresholds))


ANALYSIS: Final = Analysis(
    name="stragglers",
    version=11,
    describes="Which GPUs, hosts, replicas and stages are slow, since when and why",
    inputs=(*_INPUTS, *_DAYS),
    outputs=(StragglerSteps, StragglerRanks, StragglerEvidence, StragglerTests),
    compute=_compute,
    thresholds=THRESHOLDS,
)

__all__ = [
    "ANALYSIS",
    "StragglerEvidence",
    "StragglerRanks",
    "StragglerSteps",
    "StragglerTests",
    "find_stragglers",
]
