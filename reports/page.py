"""Put the sections on one HTML page that opens without a network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import jinja2

import reports
from analysis import Frames
from reports import _assets, _blind_periods, _glossary, _numbers
from reports._section import Content, Link, Scope, Section
from reports._stills import still
from reports._words import name, visible
from reports.dollars import Price
from reports.provenance import Provenance

#: A word of this length still fits into a column. [characters]
_LONGEST_WORD: Final = 18


@dataclass(frozen=True, slots=True)
class Answered:
    """A section with what it says."""

    section: Section
    content: Content


def render(frames: Frames, prices: Mapping[str, Price], provenance: Provenance) -> str:
    """Return the page: one HTML text that carries all it needs.

    Args:
        frames: The tables of `reports.INPUTS`.
        prices: Price of each run by `run_id`, the fallback under the empty name.
        provenance: What made the numbers.
    """
    scope = Scope(prices, provenance)
    answers = [
        Answered(section, section.build(frames, scope)) for section in reports.SECTIONS
    ]
    return _page(answers, provenance)


def headline(
    frames: Frames, prices: Mapping[str, Price], provenance: Provenance
) -> str:
    """Return the sentence that the page opens with, as plain text."""
    return reports.SECTIONS[0].build(frames, Scope(prices, provenance)).heading


def warnings(
    frames: Frames, prices: Mapping[str, Price], provenance: Provenance
) -> tuple[str, ...]:
    """Return what makes the headline doubtful, as plain sentences."""
    spot = _blind_periods.apart(frames, Scope(prices, provenance))
    return (f"doubtful: {spot.how_much}: {spot.mend}",) if spot else ()


def _page(answers: Sequence[Answered], provenance: Provenance) -> str:
    charts = [chart for answer in answers for chart in answer.content.charts]
    specs = {chart.name: _assets.visible_spec(chart.spec) for chart in charts}
    assets = _assets.load()
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            answers=answers,
            provenance=provenance,
            generated=_numbers.utc(provenance.generated_ns),
            assets=assets,
            data=_assets.data(specs),
            stills={chart: still(spec) for chart, spec in specs.items()},
        )
    )


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["explained"] = _glossary.explained
    environment.filters["name"] = name
    environment.tests["link"] = lambda cell: isinstance(cell, Link)
    environment.tests["unbroken"] = _is_unbroken
    return environment


def _is_unbroken(cell: object) -> bool:
    """Whether a cell holds a word that must be broken to fit into a column."""
    return any(len(word) > _LONGEST_WORD for word in str(cell).split())


def _visible(value: object) -> object:
    """Return a value as it is, a text that is not yet HTML without what hides."""
    return visible(value) if type(value) is str else value
