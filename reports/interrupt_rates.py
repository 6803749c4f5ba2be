"""How often runs are interrupted, beside others, over time, and at other sizes."""

from typing import Final

from analysis import Frames
from analysis.interrupt_rates import InterruptRates
from analysis.interruption_gaps import InterruptionGapFits, InterruptionGaps
from analysis.rate_changes import RateChanges
from analysis.rate_comparisons import RateComparisons
from analysis.rate_projections import RateProjections
from reports import (
    _rate_charts,
    _rate_counts,
    _rate_gap_chart,
    _rate_listings,
    _rate_models,
    _rate_weeks_chart,
    _rate_words,
)
from reports._rate_shown import headline, runs_with_rates
from reports._section import Content, Scope, Section
from reports._words import plural

_EMPTY: Final = (
    "A rate takes the time that a run was up: a job list (sacct) or a step log. Causes"
    " come from kernel logs and from a list of interruptions that operators keep. What"
    " would be found: the mean time between interruptions with its interval, beside"
    " published ones, by cause and week, and what other sizes would see."
)


def build(frames: Frames, scope: Scope) -> Content:
    """Return the rate of interruptions, and all that it is held against."""
    row = headline(frames, scope)
    if row is None:
        counts = _rate_counts.counted(frames, scope)
        if counts:
            return counts
        return Content(
            heading="How often runs are interrupted is not known: no run was observed.",
            empty=_EMPTY,
            notes=[_rate_listings.table_5()],
        )
    others = runs_with_rates(frames, scope) - 1
    beside = (
        [f"{plural(others, 'other run')} on this page: see interrupt_rates."]
        if others
        else []
    )
    return Content(
        heading=_rate_words.heading(row, frames),
        paragraphs=[
            *_rate_words.paragraphs(row, frames, scope),
            *_rate_models.sentences(frames, row),
            *beside,
        ],
        charts=[
            *_rate_charts.chart(_rate_charts.overall(frames, scope)),
            *_rate_gap_chart.chart(frames, row),
            *_rate_weeks_chart.chart(frames, row),
        ],
        listings=[
            *_rate_listings.causes(frames, row),
            *_rate_listings.projections(frames, row),
        ],
        notes=[_rate_listings.table_5()],
    )


SECTION: Final = Section(
    "interrupt_rates",
    "Rates",
    (
        InterruptRates,
        RateComparisons,
        RateChanges,
        RateProjections,
        InterruptionGaps,
        InterruptionGapFits,
    ),
    build,
)
