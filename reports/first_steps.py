"""What to repair first, by what each repair would save at most."""

from decimal import Decimal
from typing import Final

from analysis import Frames
from analysis.attempts import Attempts
from analysis.interruptions import Interruptions
from analysis.lost_time import LostTime
from analysis.runs import Runs
from analysis.stragglers import StragglerRanks
from reports import _repairs
from reports._repairs import Repair
from reports._section import Cell, Column, Content, Link, Listing, Scope, Section
from reports._words import plural
from reports.dollars import in_words

#: Rows of the table: more is not what is done first.
_MOST: Final = 5

_JOINT: Final = (
    "Gains do not add: repairs overlap, and each row is what one repair saves while"
    " everything else stays as it is. Upper bounds hold if the cause went away wholly."
)


def build(frames: Frames, scope: Scope) -> Content:
    """Return at most five repairs, the largest saving first."""
    found = _repairs.candidates(frames, scope)
    if not found:
        return Content(
            heading="Nothing stands out that a repair would save.",
            empty="Repairs come from slow GPUs, interruptions and stalls: a step log"
            " with waits, traces of all ranks, failure logs and a job list tell them.",
        )
    first = found[0]
    day = f", {in_words(first.per_day)} a day" if first.per_day is not None else ""
    bound = "at most " if first.is_bound else ""
    return Content(
        heading=f"First: {first.what}. That is {bound}{in_words(first.usd)}{day}.",
        paragraphs=[_JOINT],
        listings=[_listing(found)],
    )


def _listing(found: list[Repair]) -> Listing:
    shown = found[:_MOST]
    more = len(found) - len(shown)
    return Listing(
        title="Repairs by what each would save alone",
        columns=(
            Column("Repair"),
            Column("Saves", "Within the time on this page.", is_number=True),
            Column("A day", "Saving over the days of the run.", is_number=True),
            Column(
                "Rest of the run",
                "Saving for each step that was done, times the steps that are left.",
                is_number=True,
            ),
            Column("Confidence"),
            Column("Evidence"),
            Column("Who acts"),
        ),
        rows=[_row(repair) for repair in shown],
        more=f"{plural(more, 'more repair')} that would save less" if more else "",
    )


def _row(repair: Repair) -> tuple[Cell, ...]:
    bound = "\N{LESS-THAN OR EQUAL TO}\N{NARROW NO-BREAK SPACE}"
    before = bound if repair.is_bound else ""
    day, rest = repair.per_day, repair.rest
    return (
        repair.what,
        before + in_words(repair.usd),
        before + in_words(day) if day is not None else "not known",
        _left(before, rest),
        repair.confidence,
        Link(repair.evidence, repair.section),
        repair.who,
    )


def _left(before: str, rest: Decimal | None) -> str:
    if rest is None:
        return "not known"
    return before + in_words(rest) if rest else "no steps left"


SECTION: Final = Section(
    "first_steps",
    "What to do first",
    (LostTime, Runs, Attempts, Interruptions, StragglerRanks),
    build,
)
