"""A colour means one thing on the page: phases in every chart, parts in legends."""

from typing import Any

from reports import _loss_shown, _loss_waterfall, _stop_phases
from reports import plan as plan_section
from reports._section import Scope
from reports._stop_colours import PHASE_COLOURS
from reports.theme import COLOURS, MEANING_OF_ACCOUNT
from tests.reports.builder import RUN, framed
from tests.reports.pod import pod
from tests.reports.pod_plan import plan


def colours(spec: Any) -> set[str]:
    """The colours of a chart's bars."""
    if isinstance(spec, dict):
        found = {part for each in spec.values() for part in colours(each)}
        scale = spec.get("color", {}) if isinstance(spec.get("color"), dict) else {}
        return found | set(scale.get("scale", {}).get("range", []))
    if isinstance(spec, list):
        return {part for each in spec for part in colours(each)}
    return set()


def test_a_phase_has_one_colour_in_both_charts(scope: Scope) -> None:
    rows = _loss_shown.rows_of(framed(pod()), scope)
    (cost,) = _loss_waterfall.chart(rows, scope)
    drawn = colours(dict(cost.spec)) - {COLOURS["paid"]}
    assert drawn
    assert drawn <= set(PHASE_COLOURS.values())
    assert len(set(PHASE_COLOURS.values())) == len(PHASE_COLOURS)
    for chart in _stop_phases.chart(rows, scope):
        assert set(chart.legend.values()) <= set(PHASE_COLOURS.values())
    assert PHASE_COLOURS["recompute"] == COLOURS[MEANING_OF_ACCOUNT["recompute"]]


def test_colours_that_mean_something_have_a_legend(scope: Scope) -> None:
    content = plan_section.build(framed(plan(RUN)), scope)
    for chart in content.charts[:2]:
        assert colours(dict(chart.spec)) <= set(chart.legend.values())
