"""The clocks of the sample's nodes are told as they were set."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.truth.conftest import Sample


def test_the_clock_of_a_node_is_told_as_it_was_set(sample: "Sample") -> None:
    rows = sample.sql(
        "SELECT host, state, offset_ns, drift_ppm, is_corrected FROM clock_offsets"
    )
    told = {row["host"]: row for row in rows.to_dicts()}
    assert set(told) == set(sample.truth["clock_offsets_ns"])
    for host, truth in sample.truth["clock_offsets_ns"].items():
        # ranks leave within 4 us of each other
        assert told[host]["offset_ns"] == pytest.approx(truth, abs=2_000)
        assert told[host]["is_corrected"] == (truth != 0)
        assert abs(told[host]["drift_ppm"] or 0) < 5


def test_what_is_left_of_the_clocks_is_what_ranks_leave_apart(
    sample: "Sample",
) -> None:
    rows = sample.sql(
        "SELECT max(clock_residual_ns) AS most, count(last_rank) AS named,"
        " count(*) AS seen FROM collective_waits"
    )
    (row,) = rows.to_dicts()
    assert row["most"] < 5_000
    assert row["named"] > 0.98 * row["seen"]


def test_ranks_wait_for_the_slow_one(sample: "Sample") -> None:
    rows = sample.sql(
        "SELECT late_rank, sum(wait_ns) AS ns FROM waiting_edges"
        " GROUP BY late_rank ORDER BY ns DESC LIMIT 1"
    )
    assert rows["late_rank"].to_list() == [sample.truth["straggler"]["rank"]]
