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
from reports._repair import Repair
from reports._savings import Saving
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
    return Content(
        heading=_heading(found[0]),
        paragraphs=[_JOINT, *_sampled(found[:_MOST])],
        listings=[_listing(found)],
    )


def _heading(first: Repair) -> str:
    saves = first.saves
    bound = "at most " if first.is_bound else ""
    day = f", {in_words(saves.per_day)} a day" if saves.per_day is not None else ""
    if saves.of_traced:
        day = f", {saves.of_traced} of the traced time"
    return f"First: {first.what}. That is {bound}{saves.said}{day}."


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
            Column("A day", "Saving over the days of the run.", is_number=is_number),
            Column(
                "Rest of the run",
                "Saving for each step that was done, times the steps that are left.",
                is_number=is_number,
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
    saves = repair.saves
    traced = f", {saves.of_traced} of the traced time" if saves.of_traced else ""
    return (
        repair.what,
        before + saves.said + traced,
        _ahead(before, saves.per_day, saves),
        _ahead(before, saves.rest, saves),
        repair.confidence,
        Link(repair.evidence, repair.section),
        repair.who,
    )


def _ahead(before: str, usd: Decimal | None, saves: Saving) -> str:
    if saves.of_traced:
        return "not known: traces are samples"
    if usd is None:
        return "not known"
    return before + in_words(usd) if usd else "no steps left"


SECTION: Final = Section(
    "first_steps",
    "What to do first",
    (LostTime, Runs, Attempts, Interruptions, StragglerRanks),
    build,
)
