"""The SQL under each chart of the demonstration gives the numbers that are drawn."""

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from polars.testing import assert_frame_equal

from analysis import Frames
from ingest.lake import snapshot
from reports import INPUTS, SECTIONS
from reports._section import Scope, Section
from reports.dollars import Price
from reports.provenance import Provenance

pytestmark = pytest.mark.thorough

if TYPE_CHECKING:
    from tests.truth.conftest import Demo


@pytest.mark.parametrize("section", SECTIONS, ids=lambda s: s.name)
def test_the_lake_gives_what_is_drawn(section: Section, demo: "Demo") -> None:
    lake = snapshot(demo.lake)
    frames = Frames({table: lake.scan(table) for table in INPUTS})
    price = Price(Decimal(2), "run card")
    provenance = Provenance(
        run_ids=tuple(sorted(truth["run_id"] for truth in demo.truths.values())),
        lake=str(demo.lake),
        generated_ns=0,
        version="0",
        settings={},
        settings_sources={},
        thresholds={},
        analysis_versions={},
    )
    content = section.build(frames, Scope({"": price}, provenance))
    for chart in content.charts:
        found = demo.sql(chart.sql)
        assert_frame_equal(found, chart.numbers, check_dtypes=False, rel_tol=1e-9)
    for listing in content.listings:
        if listing.sql:
            assert demo.sql(listing.sql).height >= len(listing.rows)
