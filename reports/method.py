"""How each number is made: words, sources, versions and settings."""

from typing import Final

from analysis import Frames
from analysis.published_rates import PUBLISHED
from reports import _glossary
from reports._numbers import significant, utc
from reports._section import Content, Notes, Scope, Section
from reports._words import name, plural, said


def build(_: Frames, scope: Scope) -> Content:
    """Return the definitions and everything that is needed to make the page again."""
    return Content(
        heading="Every number has one meaning:"
        f" {plural(len(_glossary.GLOSSARY), 'word')} and where they come from.",
        paragraphs=[
            (
                "Each GPU-second is booked once, in this order: no attempt or no step"
                " yet (restart, unallocated), done again later (recompute), then the"
                " parts of a kept step; what no evidence tells is unattributed. Times"
                " are whole nanoseconds; dollars are GPU time times the price of its"
                " run."
            )
        ],
        definitions=_glossary.GLOSSARY,
        notes=[
            Notes("Versions", _versions(scope)),
            Notes("Thresholds in force", _thresholds(scope)),
            Notes("Settings in force", _settings(scope)),
            Notes("Published rates drawn beside ours", _published()),
        ],
    )


def _published() -> list[tuple[str, str]]:
    return [
        (one.label, f"{one.rate} per 1000 node-days, {one.counts}; {one.source}")
        for one in PUBLISHED
    ]


def _versions(scope: Scope) -> list[tuple[str, str]]:
    made = scope.provenance
    analyses = sorted(made.analysis_versions.items())
    return [
        ("gpuledger", made.version),
        ("page made", utc(made.generated_ns)),
        ("lake", name(made.lake, 120)),
        *[(f"analysis {said(key)}", str(version)) for key, version in analyses],
    ]


def _thresholds(scope: Scope) -> list[tuple[str, str]]:
    return [
        (name(key), significant(float(value)))
        for key, value in sorted(scope.provenance.thresholds.items())
    ]


def _settings(scope: Scope) -> list[tuple[str, str]]:
    sources = scope.provenance.settings_sources
    return [
        (name(key), f"{name(value, 120)} ({name(sources.get(key, 'default'))})")
        for key, value in sorted(scope.provenance.settings.items())
    ]


SECTION: Final = Section("method", "How each number is made", (), build)
