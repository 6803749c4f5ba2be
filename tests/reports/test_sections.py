"""Every section: with data, without any, and the SQL under its charts."""

from functools import cache
from typing import Any

import duckdb
import pytest
from polars.testing import assert_frame_equal

from analysis import Frames
from reports import INPUTS, SECTIONS
from reports._section import Scope, Section
from tests.reports.builder import HOUR, START, framed
from tests.reports.pod import pod

each_section = pytest.mark.parametrize("section", SECTIONS, ids=lambda s: s.name)

#: Sections that need no telemetry to say something.
ALWAYS = {"method"}


@cache
def whole_pod() -> Frames:
    """Frames of the pod, made once."""
    return framed(pod())


@each_section
def test_without_data_a_section_says_what_would_fill_it(
    section: Section, scope: Scope
) -> None:
    content = section.build(Frames({}), scope)
    assert content.heading
    assert not content.charts
    if section.name not in ALWAYS and section.name != "unknown":
        assert content.empty


@each_section
def test_with_data_a_section_has_no_hint(section: Section, scope: Scope) -> None:
    content = section.build(whole_pod(), scope)
    assert content.empty is None
    assert len(content.charts) <= 3
    assert all(len(listing.rows) <= 10 for listing in content.listings)


@each_section
def test_a_section_reads_no_table_that_it_does_not_list(
    section: Section, scope: Scope
) -> None:
    listed = Frames({table: whole_pod()[table] for table in section.inputs})
    whole = section.build(whole_pod(), scope)
    alone = section.build(listed, scope)
    assert alone.heading == whole.heading
    assert alone.listings == whole.listings


@each_section
def test_the_sql_gives_exactly_the_numbers_of_its_chart(
    section: Section, scope: Scope
) -> None:
    frames = whole_pod()
    lake = duckdb.connect()
    for table in INPUTS:
        lake.register(table.sql_name(), frames[table].collect().to_arrow())
    for chart in section.build(frames, scope).charts:
        found = lake.sql(chart.sql).pl()
        assert_frame_equal(found, chart.numbers, check_dtypes=False, rel_tol=1e-9)


@each_section
def test_every_chart_says_all_it_must(section: Section, scope: Scope) -> None:
    for chart in section.build(whole_pod(), scope).charts:
        for words in (
            chart.title,
            chart.summary,
            chart.about.definition,
            chart.about.source,
        ):
            assert words
        assert chart.sample
        assert chart.about.blind_spots
        assert chart.spec["width"] == "container"
        assert axes_without_a_title(chart.spec) == []


def axes_without_a_title(spec: dict[str, Any]) -> list[str]:
    """Quantitative axes that say no unit."""
    found = []
    for layer in spec.get("layer", [spec]):
        for channel in ("x", "y"):
            encoding = layer.get("encoding", {}).get(channel, {})
            axis = encoding.get("axis", {})
            if encoding.get("type") in {"quantitative", "temporal"} and axis:
                title = axis.get("title")
                if not title or not (
                    "[" in title or title.startswith(("time", "step"))
                ):
                    found.append(f"{channel}: {title}")
    return found


def test_names_and_tables_are_unique() -> None:
    names = [section.name for section in SECTIONS]
    assert len(set(names)) == len(names)
    assert len(set(INPUTS)) == len(INPUTS)


def test_findings_carry_their_numbers(scope: Scope) -> None:
    frames = whole_pod()
    said = {
        section.name: section.build(frames, scope).heading.replace("\u202f", " ")
        for section in SECTIONS
    }
    assert said["stragglers"] == (
        "Rank 7 on node-b12 ran 12.0 % slow from step 40 to 89 under power cap:"
        " 12.5 USD."
    )
    # 12 s of 26.8 s of communication hidden; 14.8 s exposed in 80 s; 16 s idle; DP
    # reduce-scatter exposed for 1.5 s of each of 8 ranks, and 10 ms x 28 more
    assert said["overlap"] == (
        "DP reduce-scatter is exposed for 15.4 % of the traced time, all communication"
        " for 18.5 %; compute hides 44.8 % of communication, and GPUs are idle for"
        " 20.0 %."
    )
    # eight GPUs of 25 MJ down to 22.2 MJ: 188.8 MJ; coverage 7 x 0.99 and 0.8
    assert said["energy"] == (
        "8 GPUs drew 52.4 kWh, with a highest reading of 702 W; 96.6 % of their time"
        " was measured."
    )
    assert said["data_quality"] == (
        "1 922 rows from 3 files: 99.9 % accepted, 2 refused."
    )
    assert said["interruptions"].startswith(
        "1 interruption: 1 by hardware. One in 167 d of the run"
    )


def test_below_five_events_there_is_no_rate(scope: Scope) -> None:
    section = next(s for s in SECTIONS if s.name == "interruptions")
    content = section.build(framed(pod(count=4)), scope)
    assert "interruptions-rates" not in [chart.name for chart in content.charts]
    assert "Below 5 interruptions there is a count and no rate." in " ".join(
        content.paragraphs
    )


def test_a_healthy_fleet_flags_nobody(scope: Scope) -> None:
    from analysis.stragglers import StragglerRanks

    rows = pod()
    rows[StragglerRanks] = []
    section = next(s for s in SECTIONS if s.name == "stragglers")
    heading = section.build(framed(rows), scope).heading.replace("\u202f", " ")
    assert heading == (
        "No GPU was slower than its peers; the smallest slowdown we could have seen is"
        " 2.1 %."
    )


def test_hundreds_of_stops_are_counted_by_day(scope: Scope) -> None:
    from analysis.attempts import Attempts
    from analysis.interruptions import Interruptions

    rows = pod()
    attempt, stop = rows[Attempts][0], rows[Interruptions][0]
    # an attempt every 4 hours, each ended by a stop: six a day
    rows[Attempts] = [attempt | {"attempt": number} for number in range(120)]
    rows[Interruptions] = [
        stop | {"attempt": number, "decided_ns": START + (number * 4 + 1) * HOUR}
        for number in range(120)
    ]
    section = next(s for s in SECTIONS if s.name == "interruptions")
    frames = framed(rows)
    chart = section.build(frames, scope).charts[0]
    assert chart.name == "interruptions-days"
    assert chart.numbers["stops"].to_list()[1:4] == [6, 6, 6]
    lake = duckdb.connect()
    lake.register("interruptions", frames[Interruptions].collect().to_arrow())
    found = lake.sql(chart.sql).pl()
    assert_frame_equal(found, chart.numbers, check_dtypes=False)


def test_a_fleet_is_drawn_in_few_rows(scope: Scope) -> None:
    from analysis.overlap import Overlap

    rows = pod()
    trace = rows[Overlap][0]
    rows[Overlap] = [
        trace | {"rank": rank, "trace_id": f"trace-{rank}"} for rank in range(1000)
    ]
    section = next(s for s in SECTIONS if s.name == "overlap")
    chart, *_ = section.build(framed(rows), scope).charts
    # 1000 ranks by 63: 16 bars
    assert chart.numbers["first_rank"].to_list() == [63 * bar for bar in range(16)]
