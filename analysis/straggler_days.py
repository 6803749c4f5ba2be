"""What stragglers, scores and repairs need of the steps of one run and day."""

from typing import Final

from analysis._analysis import Frames, Results, Thresholds
from analysis._rollup import Day, Rollup
from analysis._straggler_day_answers import (
    ranks_of,
    rows_of,
    savings_of,
    steps_of,
    tests_of,
)
from analysis._straggler_day_causes import slow_things_of
from analysis._straggler_day_search import search_day
from analysis._straggler_day_tables import (
    StragglerDays,
    StragglerDaysEvidence,
    StragglerDaysRanks,
    StragglerDaysSavings,
    StragglerDaysSpells,
    StragglerDaysSteps,
)
from analysis._straggler_day_tiles import Sizes
from analysis._straggler_limits import THRESHOLDS, Limits
from analysis._straggler_seats import SEAT
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from ingest.tables import (
    Failures,
    LinkSamples,
    Operations,
    PowerSamples,
    StepTimings,
)

#: Steps of a report of the section scores. [1]
REPORT_STEPS: Final = 30


def condense(day: Day, frames: Frames, thresholds: Thresholds) -> Results:
    """Search one day of a run for stragglers, and keep what joins with other days.

    All is as `find_stragglers` does it, of the steps of one day: the same blocks, the
    same tests among all things of the day, spells, dates and costs. A spell that goes
    on beyond midnight may be too short for a day to tell: with fewer than three blocks
    at an edge of the day it is kept apart, if it passes the same test, and counts where
    the day beyond has more of it. Each part must pass by itself, so that one of a few
    steps may be missed: fewer than ten at one side of midnight.

    Args:
        day: Raw step timings.
        frames: Seats and attempts; for causes what the day has of power samples,
            failures, samples of links and operations.
        thresholds: What counts as slow.

    Returns:
        Rows of each table of this file.
    """
    limits = Limits.of(thresholds)
    report = int(thresholds["section_report_steps"])
    sizes = Sizes(limits.block_steps, report, limits.min_peers)
    found = search_day(day, frames, limits, sizes)
    slow, evidence = slow_things_of(found, frames, limits)
    answers = {
        StragglerDays: tests_of(found),
        StragglerDaysSpells: slow,
        StragglerDaysEvidence: evidence,
        StragglerDaysSteps: steps_of(found),
        StragglerDaysRanks: ranks_of(found),
        StragglerDaysSavings: savings_of(found),
    }
    return {
        table: rows_of(table, rows, run_id=day.owner, day=day.day)
        for table, rows in answers.items()
    }


ROLLUP: Final = Rollup(
    name="straggler_days",
    version=3,
    describes="Slow things of each day, and how slow each rank was on it",
    source=StepTimings,
    owner="run_id",
    inputs=(Gpus, Attempts, PowerSamples, Failures, LinkSamples, Operations),
    outputs=(
        StragglerDays,
        StragglerDaysSpells,
        StragglerDaysEvidence,
        StragglerDaysSteps,
        StragglerDaysRanks,
        StragglerDaysSavings,
    ),
    compute=condense,
    reads={
        Gpus: ("run_id", "attempt", "rank", "from_ns", *SEAT),
        Attempts: ("run_id", "attempt", "start_ns"),
    },
    thresholds={**THRESHOLDS, "section_report_steps": REPORT_STEPS},
)

__all__ = [
    "REPORT_STEPS",
    "ROLLUP",
    "StragglerDays",
    "StragglerDaysEvidence",
    "StragglerDaysRanks",
    "StragglerDaysSavings",
    "StragglerDaysSpells",
    "StragglerDaysSteps",
    "condense",
]
