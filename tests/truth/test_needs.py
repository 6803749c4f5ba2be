"""Analyses find nothing in a whole lake that lacks only what they need."""

import pytest

from analysis import QUESTIONS, Analysis, Frames
from ingest.lake import snapshot
from tests.truth.conftest import Demo

pytestmark = pytest.mark.thorough

NEEDY = [analysis for analysis in QUESTIONS if analysis.needs]


@pytest.mark.parametrize("analysis", NEEDY, ids=lambda one: one.name)
def test_without_what_it_needs_nothing_is_found(demo: Demo, analysis: Analysis) -> None:
    lake = snapshot(demo.lake)
    rest = [table for table in analysis.inputs if table not in analysis.needs]
    frames = Frames({table: lake.scan(table) for table in rest})
    found = analysis.compute(frames, analysis.thresholds)
    assert all(rows.is_empty() for rows in found.values())
