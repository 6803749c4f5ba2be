"""Jobs of no run are named wherever one would look for them."""

from typing import Any

import pytest

from analysis.incidents import Incidents
from ingest.sources import SOURCES
from ingest.tables import Jobs
from reports import SECTIONS, cost, interruptions, lost_time, unknown
from reports._section import Scope
from tests.reports.builder import START, framed, prices_of, provenance_of
from tests.reports.pod import pod


def jobs(**counts: int) -> list[dict[str, Any]]:
    """Jobs of no run, so many in each state."""
    return [
        {"file_id": "f", "cluster": "c", "job_id": f"{state}{i}", "state": state}
        | {"start_ns": START + i}
        for state, count in counts.items()
        for i in range(count)
    ]


def plain(text: object) -> str:
    """A text with ordinary spaces."""
    return str(text).replace("\u202f", " ")


@pytest.fixture
def rows() -> dict[Any, Any]:
    """A lake with 14 jobs of no run, and nothing else."""
    return {Jobs: jobs(FAILED=7, COMPLETED=4, TIMEOUT=2, NODE_FAIL=1)}


MEND = "name them in jobs of a run card, or give the run their name"


def test_a_lake_of_jobs_says_that_they_belong_to_no_run(
    rows: dict[Any, Any], scope: Scope
) -> None:
    content = unknown.build(framed(rows), scope)
    states = "7 FAILED, 4 COMPLETED, 2 TIMEOUT and 1 in other states"
    how_much = f"14 jobs belong to no run ({states})"
    assert plain(content.heading).startswith(
        f"What jobs without a run were for: {how_much}"
    )
    assert content.listings[0].rows[0][1:] == (how_much, MEND)
    for section in (cost, lost_time, interruptions):
        hint = section.build(framed(rows), scope).empty
        assert hint == f"14 jobs belong to no run: {MEND}."


def test_jobs_of_runs_are_no_blind_spot(scope: Scope) -> None:
    mine = [row | {"run_id": "pod-a-main"} for row in jobs(FAILED=2)]
    found = unknown.build(framed(pod() | {Jobs: mine}), scope)
    assert "belong to no run" not in str(found.listings[0].rows)
    stops = interruptions.build(framed(pod() | {Jobs: mine}), scope)
    assert "failed job" not in " ".join(stops.paragraphs)


def test_one_job_belongs(scope: Scope) -> None:
    hint = cost.build(framed({Jobs: jobs(FAILED=1)}), scope).empty
    assert hint == f"1 job belongs to no run: {MEND}."


def test_without_a_run_nothing_ran_without_interruption(
    rows: dict[Any, Any], scope: Scope
) -> None:
    rows |= {Incidents: pod()[Incidents]}
    content = interruptions.build(framed(rows), scope)
    assert content.heading.startswith("No run was seen")
    told = " ".join(content.paragraphs)
    assert "7 failed jobs belong to no run" in told
    assert "interruptions" not in told


def test_hints_name_only_what_is_read() -> None:
    scope = Scope(prices_of(), provenance_of())
    hints = [section.build(framed({}), scope).empty or "" for section in SECTIONS]
    text = " ".join(hints)
    assert "`" not in text
    for unread in ("squeue", "flight", "Inspector", "health check"):
        assert unread not in text
    told = " ".join(source.name + source.describes for source in SOURCES)
    for named in ("sacct", "nvidia-smi", "dcgm-exporter"):
        assert named in text
        assert named in told
