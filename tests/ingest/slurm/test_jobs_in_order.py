"""Jobs that end before they start: refused, but where clocks go back."""

from typing import Any

from ingest.sources import interruption_list, sacct
from ingest.tables import Failures, Jobs
from ingest.times import parse_zone
from tests.ingest.readings import held, read_lines, refused, rows

MINUTE_NS = 60 * 10**9
DAY = "2025-10-26T"
BERLIN = {"zone": parse_zone("Europe/Berlin"), "zone_basis": "run_card"}


def listed(*cells: str, **told: Any) -> tuple[list[int], list[str]]:
    """Minutes that each job took, and the rules that were broken."""
    lines = [
        "|".join(["7", "COMPLETED", *(f"{DAY}{cell}:00" for cell in row.split())])
        for row in cells
    ]
    batches = held(
        read_lines(sacct.SOURCE, "JobID|State|Submit|Start|End", *lines, **told)
    )
    jobs = rows(batches, Jobs)
    took = [(row["end_ns"] - row["start_ns"]) // MINUTE_NS for row in jobs]
    return took, [rule for _, rule in refused(batches)]


def test_an_end_before_the_start_is_refused() -> None:
    assert listed("00:00 05:00 04:00") == ([], ["end_ns|order"])
    line = f"7|FAILED|{DAY}05:00:00|{DAY}04:00:00"
    batches = read_lines(sacct.SOURCE, "JobID|State|Start|End", line)
    hints = [one.hint for batch in batches for one in batch.refused]
    assert hints == ["an end that is not before its start"]


def test_the_limit_of_a_job_that_waits_is_no_end() -> None:
    line = f"7|PENDING|{DAY}05:00:00|{DAY}04:00:00"
    batches = held(read_lines(sacct.SOURCE, "JobID|State|Start|End", line))
    assert len(rows(batches, Jobs)) == 1


def test_where_clocks_go_back_the_reading_that_is_in_order_is_taken() -> None:
    jobs = ("01:00 02:50 02:10", "01:00 01:50 02:10", "02:50 02:10 02:20")
    assert listed(*jobs, **BERLIN) == ([20, 20, 10], [])
    assert listed("01:00 02:50 01:10", **BERLIN) == ([], ["end_ns|order"])


def test_an_interruption_may_last_until_clocks_have_gone_back() -> None:
    lines = ("start,end,cause", "2025-10-26 02:50,2025-10-26 02:10,x")
    (row,) = rows(
        held(read_lines(interruption_list.SOURCE, *lines, **BERLIN)), Failures
    )
    assert row["end_ns"] - row["time_ns"] == 20 * MINUTE_NS
