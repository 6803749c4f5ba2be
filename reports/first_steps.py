"""What to repair first, by what each repair would save at most."""

from typing import Final

from analysis import Frames
from analysis.attempts import Attempts
from analysis.checkpoint_plans import CheckpointPlans
from analysis.data_feed import DataFeedViolations
from analysis.hangs import Hangs, HangSuspects
from analysis.interruptions import Interruptions
from analysis.lemon_nodes import LemonNodes
from analysis.loss_phases import LossPhases
from analysis.lost_time import LostTime
from analysis.overlap import Overlap
from analysis.runs import Runs
from analysis.stragglers import StragglerRanks
from analysis.whatif import WhatIf
from reports import (
    _first_look,
    _repair_answers,
    _repair_chart,
    _repair_feed,
    _repair_joint,
    _repairs,
    _step_cells,
)
from reports._numbers import duration
from reports._repair import Repair
from reports._section import Column, Content, Listing, Scope, Section
from reports._words import plural
from reports.dollars import in_words

#: Rows of the table: more is not what is done first.
_MOST: Final = 5

_NOTHING: Final = "Nothing stands out that a repair would save."

_JOINT: Final = (
    "Gains do not add: repairs overlap, and each row is what one repair saves while"
    " everything else stays as it is. Upper bounds hold if the cause went away wholly."
)


def build(frames: Frames, scope: Scope) -> Content:
    """Return at most five repairs, the largest saving first."""
    found = _repairs.candidates(frames, scope)
    answers = _repair_answers.answered(frames, scope)
    look = _first_look.hung(frames, scope)
    withheld = [
        *_repair_feed.uncosted(frames, scope),
        *_first_look.withheld(frames, scope),
    ]
    if not found:
        return _without(look, withheld)
    return Content(
        heading=_heading(found[0]),
        paragraphs=[
            _JOINT,
            *([f"Beside repairs, {look}."] if look else []),
            *_repair_joint.said(answers, scope),
            *_sampled(found[:_MOST]),
            *withheld,
        ],
        charts=_repair_chart.chart(answers, scope),
        listings=[_listing(found)],
    )


def _without(look: str, withheld: list[str]) -> Content:
    """Return where to look where no repair would save anything."""
    if look or withheld:
        heading = f"First: {look}." if look else _NOTHING
        return Content(heading=heading, paragraphs=withheld)
    return Content(
        heading=_NOTHING,
        empty="Repairs come from slow GPUs, interruptions and stalls: a step log"
        " with waits, traces of all ranks or of operations, failure logs and a job"
        " list tell them.",
    )


def _heading(first: Repair) -> str:
    saves = first.saves
    bound = "at most " if first.is_bound else ""
    said = _step_cells.here("", saves)
    over = f" in the {duration(saves.seen_ns)} seen" if saves.seen_ns else ""
    if saves.per_day is not None and not _step_cells.is_short(saves):
        over = f", {in_words(saves.per_day)} a day"
    if saves.of_traced:
        over = f", {saves.of_traced} of the traced time"
    return f"First: {first.what}. That is {bound}{said}{over}."


def _sampled(shown: list[Repair]) -> list[str]:
    if not any(repair.saves.of_traced for repair in shown):
        return []
    return [
        (
            "Of a run that only traces tell of, savings hold for the traced time alone:"
            " traces are samples, and say nothing of a day or of steps between them."
        )
    ]


def _listing(found: list[Repair]) -> Listing:
    shown = found[:_MOST]
    more = len(found) - len(shown)
    is_number = not any(repair.saves.of_traced for repair in shown)
    return Listing(
        title="Repairs by what each would save alone",
        columns=(
            Column("Repair"),
            Column("Saves", "Within the time on this page.", is_number=is_number),
            _day_column(shown, is_number=is_number),
            Column(
                "Rest of the run",
                "Saving for each step that was done, times the steps that are left.",
                is_number=is_number,
            ),
            Column("Confidence"),
            Column("Evidence"),
            Column("Who acts"),
        ),
        rows=[
            _step_cells.row(repair, has_one_span=_one_span(shown)) for repair in shown
        ],
        more=f"{plural(more, 'more repair')} that would save less" if more else "",
    )


def _one_span(shown: list[Repair]) -> bool:
    """Whether all runs were seen equally long, and for less than a day."""
    spans = {repair.saves.seen_ns for repair in shown}
    return len(spans) == 1 and _step_cells.is_short(shown[0].saves)


def _day_column(shown: list[Repair], *, is_number: bool) -> Column:
    meaning = (
        "Saving over the days of the run; of a run that was seen for less than a day,"
        " what it would be if it went on so."
    )
    if not _one_span(shown):
        is_short = any(_step_cells.is_short(repair.saves) for repair in shown)
        return Column("A day", meaning, is_number=is_number and not is_short)
    seen = duration(shown[0].saves.seen_ns or 0)
    title = f"A day, if it went on so (seen for {seen})"
    return Column(title, meaning, is_number=is_number)


SECTION: Final = Section(
    "first_steps",
    "What to do first",
    (
        LostTime,
        Runs,
        Attempts,
        Interruptions,
        StragglerRanks,
        WhatIf,
        Overlap,
        Hangs,
        HangSuspects,
        CheckpointPlans,
        LemonNodes,
        DataFeedViolations,
        LossPhases,
    ),
    build,
)
