"""What the page cannot see, and what would show it."""

from typing import Final

from analysis import Frames
from analysis.attempts import Attempts
from analysis.clock_offsets import ClockOffsets
from analysis.collective_waits import CollectiveWaits
from analysis.energy import Energy
from analysis.gpus import Gpus
from analysis.interruptions import Interruptions
from analysis.lost_time import LostTime
from analysis.overlap import Overlap
from analysis.runs import Runs
from analysis.stragglers import StragglerTests
from ingest.tables import (
    Failures,
    IngestedFiles,
    Jobs,
    Operations,
    PowerSamples,
    RunCards,
    StepTimings,
)
from reports import _blind_spots, _coverage_chart
from reports._blind_spot import BlindSpot
from reports._runs import MOST_ROWS
from reports._section import Column, Content, Listing, Notes, Scope, Section
from reports._words import name, plural

_DEFAULT: Final = "default"


def build(frames: Frames, scope: Scope) -> Content:
    """Return the blind spots, the largest first, and the assumptions in force."""
    spots = _blind_spots.found(frames, scope)
    charts = _coverage_chart.chart(frames, scope)
    return Content(
        heading=_heading(spots),
        paragraphs=[_assumed(scope)],
        charts=charts,
        listings=[_listing(spots)] if spots else [],
        notes=[Notes("Settings that nobody set", _defaults(scope))],
        empty=None
        if spots or charts
        else "Nothing has been ingested yet, so that nothing can be seen at all.",
    )


def _heading(spots: list[BlindSpot]) -> str:
    if not spots:
        return "No blind spot is known."
    first = spots[0]
    more = len(spots) - 1
    beside = f", and {plural(more, 'more blind spot')}" if more else ""
    return f"{first.what}: {first.how_much}{beside}."


def _listing(spots: list[BlindSpot]) -> Listing:
    more = len(spots) - MOST_ROWS
    return Listing(
        title="Blind spots, and what would show what is in them",
        columns=(
            Column("What is not known"),
            Column("How much"),
            Column("What would tell"),
        ),
        rows=[(spot.what, spot.how_much, spot.mend) for spot in spots[:MOST_ROWS]],
        more=plural(more, "more blind spot") if more > 0 else "",
    )


def _assumed(scope: Scope) -> str:
    defaults = len(_defaults(scope))
    return (
        "A number on this page never fills a gap by itself: what no source tells is"
        f" unattributed or missing. {plural(defaults, 'setting')} in force by default."
    )


def _defaults(scope: Scope) -> list[tuple[str, str]]:
    sources = scope.provenance.settings_sources
    return [
        (key, name(value, 120))
        for key, value in sorted(scope.provenance.settings.items())
        if sources.get(key, _DEFAULT) == _DEFAULT
    ]


SECTION: Final = Section(
    "unknown",
    "What we cannot see",
    (
        LostTime,
        Runs,
        Attempts,
        Gpus,
        Energy,
        Overlap,
        StragglerTests,
        CollectiveWaits,
        ClockOffsets,
        Interruptions,
        IngestedFiles,
        Failures,
        PowerSamples,
        Jobs,
        RunCards,
        StepTimings,
        Operations,
    ),
    build,
)
