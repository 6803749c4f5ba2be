"""The section about hangs: who is named, the graph, and where it cannot be drawn."""

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis import Frames
from analysis.hangs import Hangs, HangSuspects, HangWaits
from ingest.tables import GroupStatus
from reports import hangs as section
from reports._section import Content, Scope
from tests.reports.builder import RUN, START, Rows, framed
from tests.reports.pod_hangs import hangs


def build(rows: Rows, scope: Scope) -> Content:
    return section.build(framed(rows), scope)


def test_the_heading_names_the_ranks_and_what_they_did(scope: Scope) -> None:
    assert build(hangs(), scope).heading == (
        f"Run {RUN} hung at 2026-11-18 12:06 UTC: rank 5 never entered TP"
        " all-reduce 41; 7 ranks wait."
    )


def test_more_than_four_are_not_named(scope: Scope) -> None:
    rows = hangs()
    rows[Hangs][0] |= {"kind": "undecided", "candidates_count": 6, "verdict": "six fit"}
    for row in rows[HangSuspects]:
        row["is_candidate"] = False
    heading = build(rows, scope).heading
    assert heading.endswith("and where that began is not known: six fit.")


def test_dumps_without_a_hang_are_said_to_show_none(scope: Scope) -> None:
    seen = {"run_id": RUN, "dump_id": "d", "group_id": "g", "rank": 0}
    content = build({GroupStatus: [seen | {"time_ns": START}]}, scope)
    assert content.heading.startswith("No hang: 1 dump or poll")
    assert content.empty is None


def test_each_circle_is_a_rank_and_candidates_stand_in_the_first_row(
    scope: Scope,
) -> None:
    (chart,) = build(hangs(), scope).charts
    # 4, 6, 7 and 1 wait for 5; 0, 2 and 3 for 4, 6 and 7
    edges = [
        (1, 1, 5),
        (1, 4, 5),
        (1, 6, 5),
        (1, 7, 5),
        (2, 0, 4),
        (2, 2, 6),
        (2, 3, 7),
    ]
    assert chart.numbers.rows() == edges


def many(ranks: int) -> Rows:
    """Return a hang in which all ranks but one wait for that one."""
    rows = hangs()
    waiting = rows[HangSuspects][1]
    others = [waiting | {"position": n, "rank": 100 + n} for n in range(1, ranks)]
    rows[HangSuspects] = [rows[HangSuspects][0], *others]
    return rows


@pytest.mark.parametrize("ranks", [3000, 14])
def test_of_many_ranks_those_alike_are_one_bar(scope: Scope, ranks: int) -> None:
    rows = many(ranks)
    (chart,) = build(rows, scope).charts
    assert chart.numbers.rows() == [
        (0, "tp", "allreduce", 1),
        (1, "tp", "allreduce", ranks - 1),
    ]
    assert "too many ranks" in chart.summary
    lake, frames = duckdb.connect(), framed(rows)
    for table in (Hangs, HangSuspects, HangWaits):
        lake.register(table.sql_name(), frames[table].collect().to_arrow())
    found = lake.sql(chart.sql).pl()
    assert_frame_equal(found, chart.numbers, check_dtypes=False)


def test_a_hang_of_polls_has_places_in_groups(scope: Scope) -> None:
    rows = hangs()
    rows[Hangs][0] |= {"source": "polls", "hang_id": "poll 0xab"}
    told = {"hang_id": "poll 0xab", "rule": "behind", "depth": None, "rank": None}
    rows[HangSuspects] = [
        row | told | {"rank_in_group": row["rank"], "host": "10.0.0.1"}
        for row in rows[HangSuspects]
    ]
    rows[HangWaits] = []
    content = build(rows, scope)
    assert "rank 5 of 3:[4,5,6,7] on 10.0.0.1 is behind the others" in content.heading
    assert not content.charts
    assert content.listings[0].rows[0][0] == "5 of 3:[4,5,6,7] on 10.0.0.1"


def test_empty_frames_say_what_would_fill_the_section(scope: Scope) -> None:
    assert "Flight Recorder" in (section.build(Frames({}), scope).empty or "")


def test_frames_of_the_pod_fit_their_tables() -> None:
    for table, rows in hangs().items():
        known = pl.DataFrame(rows, infer_schema_length=None).columns
        assert set(known) <= set(table.column_names())
