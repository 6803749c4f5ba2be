"""Incidents over drawn timelines: one letter is a node, times are seconds."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis._analysis import Frames
from analysis.attempts import Attempts
from analysis.incidents import ANALYSIS, IncidentEvents, Incidents
from ingest.tables import Failures, Table
from ingest.times import SECOND_NS
from ingest.xids import XIDS
from tests.examples import examples

Row = dict[str, Any]

CODES = ("13", "31", "43", "45", "48", "63", "79")


def xid(code: int, at: float | None, host: str | None = "a", **other: Any) -> Row:
    meaning = XIDS[code]
    row = {
        "cluster": "pod",
        "host": host,
        "gpu_key": "GPU-0",
        "time_ns": None if at is None else round(at * SECOND_NS),
        "time_quality": "unknown" if at is None else "exact",
        "source": "xid",
        "code": str(code),
        "name": meaning.name,
        "component": meaning.component,
        "severity": meaning.severity,
        "inferred": False,
        "line_count": 1,
        "occurrence": 0,
    }
    return row | other


def attempt(run_id: str, hosts: str, start: int, end: int, number: int = 0) -> Row:
    return {
        "run_id": run_id,
        "attempt": number,
        "cluster": "pod",
        "job_id": f"{run_id}-{number}",
        "basis": "jobs",
        "start_ns": start * SECOND_NS,
        "end_ns": end * SECOND_NS,
        "is_running": False,
        "hosts": hosts,
    }


def rows_of(table: type[Table], rows: list[Row]) -> pl.LazyFrame:
    return pl.DataFrame(rows, schema=table.create_empty().schema).lazy()


def find(
    failures: list[Row], attempts: list[Row] | None = None, **thresholds: float
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Incidents and events, each checked against its table."""
    frames = Frames(
        {
            Failures: rows_of(Failures, failures),
            Attempts: rows_of(Attempts, attempts or []),
        }
    )
    found = ANALYSIS.compute(frames, {**ANALYSIS.thresholds, **thresholds})
    incidents = Incidents.validate(found[Incidents])
    assert incidents["incident_id"].is_unique().all()
    return incidents, IncidentEvents.validate(found[IncidentEvents])


def roots(incidents: pl.DataFrame) -> list[tuple[str, str, str | None]]:
    return list(incidents.select("root_code", "role", "host").iter_rows())


def test_lines_within_five_seconds_are_one_event() -> None:
    # line    x    x    x      x
    # second  0    5   10     16     the last silence is 6 s
    lines = [xid(48, at) for at in (0, 5, 10, 16)]
    incidents, events = find(lines)
    assert sorted(events["lines"]) == [1, 3]
    assert incidents.select("lines", "events").row(0) == (4, 2)
    assert incidents["first_ns"][0] == 0
    assert incidents["last_ns"][0] == 16 * SECOND_NS


def test_lines_of_two_gpus_codes_or_nodes_are_two_events() -> None:
    other = {"gpu_key": "GPU-1"}
    lines = [xid(48, 0), xid(48, 1, **other), xid(64, 2), xid(48, 3, "b")]
    _, events = find(lines)
    assert events.height == 4


def test_a_spell_is_cut_after_a_day() -> None:
    # An error every half hour for 25 hours, at 0 h to 25 h: 48 lines, then 3.
    lines = [xid(48, 1800 * n) for n in range(51)]
    _, events = find(lines, incident_event_gap_s=3600)
    assert sorted(events["lines"]) == [3, 48]


def test_lines_that_a_source_has_joined_count_as_lines() -> None:
    incidents, _ = find([xid(48, 0, line_count=12), xid(48, 1)])
    assert incidents["lines"].to_list() == [13]


def test_the_worst_cause_is_the_root_although_a_user_code_came_first() -> None:
    # 13 (user) at 0 s, 48 (double-bit error) at 20 s, 45 (cleanup) at 21 s
    incidents, _ = find([xid(13, 0), xid(48, 20), xid(45, 21)])
    assert roots(incidents) == [("48", "root", "a")]
    assert incidents["category"].to_list() == ["hardware"]
    assert incidents["component"].to_list() == ["gpu_memory"]
    assert incidents["first_ns"].to_list() == [0]


def test_silence_of_more_than_five_minutes_starts_another_incident() -> None:
    incidents, _ = find([xid(48, 0), xid(79, 300), xid(79, 601)])
    assert roots(incidents) == [("48", "root", "a"), ("79", "root", "a")]


@pytest.mark.parametrize("code", [13, 31, 43])
def test_an_application_error_alone_is_the_users(code: int) -> None:
    incidents, _ = find([xid(code, 0)])
    assert roots(incidents) == [(str(code), "user", "a")]
    assert incidents["category"].to_list() == ["user"]


def test_an_application_error_that_one_gpu_repeats_under_two_jobs_is_a_defect() -> None:
    # job  x: [0, 100)  y: [200, 300)        the GPU errs in both
    jobs = [attempt("x", "a,b", 0, 100), attempt("y", "a,b", 200, 300)]
    lines = [xid(31, 50), xid(13, 250), xid(31, 60, "b"), xid(43, 70, "c")]
    incidents, events = find(lines, jobs, incident_window_s=10)
    assert sorted(roots(incidents)) == [
        ("13", "root", "a"),
        ("31", "root", "a"),
        ("31", "user", "b"),
        ("43", "user", "c"),
    ]
    of_a = events.filter(pl.col("host") == "a")
    assert of_a["component"].to_list() == ["gpu", "gpu"]


def test_an_application_error_repeated_under_one_job_stays_the_users() -> None:
    requeued = [
        attempt("x", "a", 0, 100) | {"job_id": "7"},
        attempt("x", "a", 200, 300, 1) | {"job_id": "7"},
    ]
    incidents, _ = find([xid(31, 50), xid(31, 250)], requeued)
    assert {role for _, role, _ in roots(incidents)} == {"user"}


def test_cleanup_alone_is_a_notice_and_beside_another_code_a_consequence() -> None:
    alone, _ = find([xid(45, 0)])
    assert alone.select("root_code", "severity").row(0) == ("45", "info")
    beside, events = find([xid(45, 0), xid(79, 30)])
    assert roots(beside) == [("79", "root", "a")]
    assert sorted(events["role"]) == ["cascade", "root"]


def test_lines_without_a_time_are_never_merged() -> None:
    lines = [xid(48, None), xid(48, None, occurrence=1), xid(79, None), xid(79, 0)]
    incidents, _ = find(lines)
    assert incidents.height == 4
    assert incidents["first_ns"].null_count() == 3


def test_nodes_of_one_name_in_two_clusters_are_two() -> None:
    incidents, _ = find([xid(48, 0), xid(79, 1, cluster="other")])
    assert incidents.height == 2


LINES = st.lists(
    st.builds(
        xid,
        st.sampled_from(CODES).map(int),
        st.none() | st.integers(0, 2_000),
        st.sampled_from(["a", "b", None]),
        gpu_key=st.sampled_from(["GPU-0", "GPU-1", None]),
        line_count=st.integers(1, 5),
    ),
    max_size=20,
    unique_by=lambda r: tuple(r[k] for k in ("code", "time_ns", "host", "gpu_key")),
)


@pytest.mark.thorough
@settings(max_examples=examples(60), deadline=None)
@given(LINES, st.randoms(use_true_random=False))
def test_order_does_not_matter_and_no_line_is_lost(lines: list[Row], rng: Any) -> None:
    attempts = [attempt("r", "a,b", 0, 900), attempt("q", "a", 950, 2_000)]
    incidents, events = find(lines, attempts)
    assert incidents["lines"].sum() == sum(row["line_count"] for row in lines)
    assert events["lines"].sum() == incidents["lines"].sum()
    assert incidents["events"].sum() == events.height
    shuffled = list(lines)
    rng.shuffle(shuffled)
    again, _ = find(shuffled, attempts)
    assert again.sort("incident_id").equals(incidents.sort("incident_id"))
