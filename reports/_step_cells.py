"""A repair in the cells of a table: its saving here, a day, and for the rest."""

from decimal import Decimal

from reports._numbers import duration
from reports._repair import Repair
from reports._runs import NS_PER_DAY
from reports._savings import Saving
from reports._section import Cell, Link
from reports.dollars import in_words


def is_short(saves: Saving) -> bool:
    """Whether a run was seen for less than a day, so that a day is extrapolated."""
    return saves.seen_ns is not None and saves.seen_ns < NS_PER_DAY


def row(repair: Repair, *, has_one_span: bool) -> tuple[Cell, ...]:
    """Return a repair as a row of the table.

    Args:
        repair: The repair.
        has_one_span: Whether all rows were seen equally long, which the title says.
    """
    bound = "\N{LESS-THAN OR EQUAL TO}\N{NARROW NO-BREAK SPACE}"
    before = bound if repair.is_bound else ""
    saves = repair.saves
    traced = f", {saves.of_traced} of the traced time" if saves.of_traced else ""
    return (
        repair.what,
        here(before, saves) + traced,
        _ahead(before, saves.per_day, saves) if has_one_span else _a_day(before, saves),
        _ahead(before, saves.rest, saves),
        repair.confidence,
        Link(repair.evidence, repair.section),
        repair.who,
    )


def here(before: str, saves: Saving) -> str:
    """Return the saving with the digits of the ledger; never none for something."""
    is_nothing = not any(digit in saves.said for digit in "123456789")
    said = in_words(saves.usd) if is_nothing else saves.said
    return said if said.startswith("<") else before + said


def _a_day(before: str, saves: Saving) -> str:
    said = _ahead(before, saves.per_day, saves)
    if not is_short(saves) or saves.of_traced or not saves.per_day:
        return said
    return f"{said} if it went on so; seen for {duration(saves.seen_ns or 0)}"


def _ahead(before: str, usd: Decimal | None, saves: Saving) -> str:
    if saves.of_traced:
        return "not known: traces are samples"
    if usd is None:
        return "not known"
    return before + in_words(usd) if usd else "no steps left"
