"""Where the time that was paid for went, account by account."""

from collections.abc import Sequence
from typing import Final

from analysis import Frames
from analysis.lost_time import LostTime
from analysis.runs import Runs
from ingest.tables import Jobs
from reports import (
    _blind_jobs,
    _ledger,
    _ledger_days,
    _ledger_runs,
    _ledger_shown,
    _ledger_waterfall,
)
from reports._ledger import ACCOUNTS, Unit
from reports._ledger_shown import Shown
from reports._numbers import grouped
from reports._runs import MOST_ROWS
from reports._section import Column, Content, Listing, Scope, Section
from reports._words import listed, said

_HINT: Final = (
    "The ledger starts from the GPUs that a run held: a job list (sacct), a step log or"
    " profiler traces of all ranks tell."
)

_BASES: Final = {
    "collectives": "matched collectives and kernels",
    "collectives_whole_bubble": "matched collectives and kernels, in which all waiting"
    " for another stage counts as the pipeline's bubble",
    "operations": "traced operations",
    "operations_whole_bubble": "traced operations, in which all waiting for another"
    " stage counts as the pipeline's bubble",
    "kernels_include_wait": "kernels, in which waiting counts as communication",
    "operations_include_wait": "traced operations, in which waiting counts as"
    " communication",
    "step_parts": "parts of steps",
    "step_duration_upper_bound": "step durations, which bound useful work from above",
    "jobs": "job times alone",
    "none": "no evidence",
}


def build(frames: Frames, scope: Scope) -> Content:
    """Return the waterfall from paid to productive."""
    rows = _ledger.by_run(frames, scope)
    found = _ledger.accounts(rows, scope)
    if not found:
        return Content(
            heading="Nothing was paid for that could have gone anywhere.",
            empty=_blind_jobs.hint(frames) or _HINT,
        )
    by_run = _ledger_runs.compared(rows, scope)
    by_day = _ledger_days.chart(frames, scope)
    charts = [_ledger_waterfall.chart(rows, found, scope), *by_run.charts, *by_day]
    told, unit = _ledger_shown.on_page(frames, scope)
    return Content(
        heading=_heading(told),
        paragraphs=[_evidence(frames, scope)],
        charts=charts,
        listings=[_listing(told, unit), *by_run.listings],
    )


def _heading(found: Sequence[Shown]) -> str:
    lost = [account for account in found if account.category != "productive"]
    if not lost:
        return "Every GPU-second that was paid for is booked as productive."
    worst = lost[0]
    rest = [said(account.category) for account in lost[1:3]]
    then = f", before {listed(rest)}" if rest else ""
    return (
        f"The largest account beside useful work is {said(worst.category)}:"
        f" {worst.said_share()} of the time paid for, {worst.usd_in_words()}{then}."
    )


def _evidence(frames: Frames, scope: Scope) -> str:
    shares = _ledger_shown.by_basis(frames, scope)
    told = [f"{share} by {_BASES[basis]}" for basis, share in shares.items()]
    return (
        f"What the time was is told {listed(told, 5)}."
        " Every GPU-second is in one account, and no traced rank speaks for another."
    )


def _listing(found: Sequence[Shown], unit: Unit) -> Listing:
    return Listing(
        title="The same in numbers: the rows add up to what was paid",
        columns=(
            Column("Account"),
            Column("What it holds"),
            Column(unit.name, is_number=True),
            Column(
                "Share",
                "Share of the time paid for, rounded so that the rows add up.",
                is_number=True,
            ),
            Column("USD", "GPU time times the price of its run.", is_number=True),
        ),
        rows=[_row(one) for one in _merged(found)],
        total=_row(_ledger_shown.together("paid", found)),
    )


def _row(one: Shown) -> tuple[str, ...]:
    holds = ACCOUNTS.get(one.category, "")
    return (
        said(one.category),
        holds,
        grouped(one.time),
        one.said_share(),
        grouped(one.usd),
    )


def _merged(rows: Sequence[Shown]) -> list[Shown]:
    if len(rows) <= MOST_ROWS:
        return list(rows)
    kept, rest = rows[: MOST_ROWS - 1], rows[MOST_ROWS - 1 :]
    return [*kept, _ledger_shown.together(f"the {len(rest)} smallest", rest)]


SECTION: Final = Section("lost_time", "Where it went", (LostTime, Runs, Jobs), build)
