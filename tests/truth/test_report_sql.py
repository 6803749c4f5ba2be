"""The SQL under each chart of the sample's report gives the numbers that are drawn."""

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

if TYPE_CHECKING:
    from tests.truth.conftest import Sample


@pytest.mark.parametrize("section", SECTIONS, ids=lambda s: s.name)
def test_the_lake_gives_what_is_drawn(section: Section, sample: "Sample") -> None:
    lake = snapshot(sample.lake)
    frames = Frames({table: lake.scan(table) for table in INPUTS})
    price = Price(Decimal(2), "run card")
    provenance = Provenance(
        run_ids=(sample.truth["run_id"],),
        lake=str(sample.lake),
        generated_ns=0,
        version="0",
        settings={},
        settings_sources={},
        thresholds={},
        analysis_versions={},
    )
    content = section.build(frames, Scope({"": price}, provenance))
    for chart in content.charts:
        found = sample.sql(chart.sql)
        assert_frame_equal(found, chart.numbers, check_dtypes=False, rel_tol=1e-9)
    for listing in content.listings:
        if listing.sql:
            assert sample.sql(listing.sql).height >= len(listing.rows)
