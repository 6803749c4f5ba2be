"""Times that no clock shows and durations that are none: the hint names the fault."""

import pytest

from ingest.sources import interruption_list, sacct
from ingest.sources._source import Source
from ingest.times import parse_zone
from tests.ingest.readings import read_lines

BERLIN = {"zone": parse_zone("Europe/Berlin"), "zone_basis": "run_card"}


def refusals(source: Source, *lines: str) -> list[tuple[str, str]]:
    batches = read_lines(source, *lines, **BERLIN)
    return [(one.rule, one.hint or "") for batch in batches for one in batch.refused]


@pytest.mark.parametrize("cell", ["-5", "1e400", "nan", "99999999999"])
def test_a_number_that_is_at_fault_is_not_asked_for_a_unit(cell: str) -> None:
    lines = ("start,duration_min,cause", f"2026-03-01 22:46,{cell},y")
    ((rule, hint),) = refusals(interruption_list.SOURCE, *lines)
    assert rule == "duration|number"
    assert hint.startswith("a number from 0")


def test_a_unit_that_is_there_is_not_asked_for() -> None:
    lines = ("start,duration,cause", "2026-03-01 22:46,9999999 d,y")
    assert refusals(interruption_list.SOURCE, *lines)[0][0] == "duration|number"


@pytest.mark.parametrize(
    ("stamps", "rule"),
    [
        ("2026-03-29 02:30,", "start_ns|no_such_time"),
        ("2026-03-29 01:30,2026-03-29 02:30", "end_ns|no_such_time"),
        ("2026-02-30 02:30,", "start_ns|time"),
    ],
)
def test_an_hour_that_clocks_went_past_is_said_of_a_list(
    stamps: str, rule: str
) -> None:
    lines = ("start,end,cause", f"{stamps},y")
    ((found, hint),) = refusals(interruption_list.SOURCE, *lines)
    assert found == rule
    assert ("clocks went past" in hint) == rule.endswith("no_such_time")


def test_an_hour_that_clocks_went_past_is_said_of_a_job() -> None:
    ends = ("2026-03-29T02:30:00", "2026-03-29T25:30:00")
    jobs = [f"7|COMPLETED|2026-03-29T01:30:00|{end}" for end in ends]
    found = refusals(sacct.SOURCE, "JobID|State|Start|End", *jobs)
    assert [rule for rule, _ in found] == ["time|no_such_time", "time"]
    assert "clocks went past" in found[0][1]
