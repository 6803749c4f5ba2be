"""Put the sections on one HTML page that opens without a network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import reports
from analysis import Frames
from reports import _assets, _blind_periods, _numbers
from reports._jinja import environment
from reports._section import Content, Scope, Section
from reports._stills import still
from reports.dollars import Price
from reports.provenance import Baseline, Provenance


@dataclass(frozen=True, slots=True)
class Answered:
    """A section with what it says."""

    section: Section
    content: Content


def render(
    frames: Frames,
    prices: Mapping[str, Price],
    provenance: Provenance,
    baseline: Baseline | None = None,
) -> str:
    """Return the page: one HTML text that carries all it needs.

    Args:
        frames: The tables of `reports.INPUTS`.
        prices: Price of each run by `run_id`, the fallback under the empty name.
        provenance: What made the numbers.
        baseline: What the page is compared with; the days before the last where None.
    """
    scope = Scope(prices, provenance, baseline)
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
        environment()
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
