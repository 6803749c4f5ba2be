"""A run's own list of interruptions: headers, times, durations, words, nodes."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ingest.errors import UnreadableFileError
from ingest.sources import interruption_list
from ingest.sources._source import Batch, Head
from ingest.tables import Failures
from ingest.times import SECOND_NS
from tests.ingest.readings import held, read_lines, refused, repairs, rows

HEADER = "start,end,planned,category,component,cause,host,gpu"
START = int(datetime(2026, 3, 1, 22, 46, tzinfo=UTC).timestamp()) * SECOND_NS
MINUTE = 60 * SECOND_NS

#: Components and categories of Llama 3, and what they are here (arXiv 2407.21783,
#: table 5).
LLAMA = {
    ("Faulty GPU", "GPU"): "gpu",
    ("GPU HBM3 Memory", "GPU"): "gpu_memory",
    ("Software Bug", "Dependency"): "software",
    ("Network Switch/Cable", "Network"): "network",
    ("Host Maintenance", "Unplanned Maintenance"): "maintenance",
    ("GPU SRAM Memory", "GPU"): "gpu_memory",
    ("GPU System Processor", "GPU"): "gpu",
    ("NIC", "Host"): "nic",
    ("NCCL Watchdog Timeouts", "Unknown"): None,
    ("Silent Data Corruption", "GPU"): "gpu",
    ("GPU Thermal Interface + Sensor", "GPU"): "gpu",
    ("SSD", "Host"): "disk",
    ("Power Supply", "Host"): "power",
    ("Server Chassis", "Host"): "host",
    ("IO Expansion Board", "Host"): "host",
    ("Dependency", "Dependency"): "software",
    ("CPU", "Host"): "cpu",
    ("System Memory", "Host"): "memory",
}

#: Words of Los Alamos (LA-UR-05-7318), whose lists have no category beside them.
LANL = {
    ("Facilities", ""): "facilities",
    ("Hardware", ""): "host",
    ("Human Error", ""): "human",
    ("Network", ""): "network",
    ("Undetermined", ""): None,
    ("Software", ""): "software",
}


def batches_of(*lines: str, **told: Any) -> list[Batch]:
    return read_lines(interruption_list.SOURCE, *lines, **told)


def rows_of(batches: list[Batch]) -> list[dict[str, Any]]:
    return rows(held(batches), Failures)


def test_a_row_tells_when_why_and_where() -> None:
    (row,) = rows_of(
        batches_of(HEADER, "2026-03-01 22:46,2026-03-01 23:31,no,GPU,Faulty GPU,x,n1,")
    )
    assert (row["time_ns"], row["end_ns"]) == (START, START + 45 * MINUTE)
    assert (row["host"], row["gpu_key"], row["run_id"]) == ("n1", None, "asked")
    assert (row["source"], row["code"], row["name"]) == ("operator", "faulty_gpu", "x")
    assert (row["component"], row["severity"]) == ("gpu", "fatal")
    assert row["message"] == "GPU: Faulty GPU: x"
    assert row["time_quality"] == "zone_assumed"


@pytest.mark.parametrize(("words", "expected"), (LLAMA | LANL).items())
def test_the_words_of_a_published_list_are_known(
    words: tuple[str, str], expected: str | None
) -> None:
    component, category = words
    line = f"2026-03-01 22:46,,no,{category},{component},,,"
    (row,) = rows_of(batches_of(HEADER, line))
    assert row["component"] == expected


@pytest.mark.parametrize("word", ["yes", "Planned", "TRUE", "1"])
def test_what_was_planned_is_a_notice(word: str) -> None:
    (row,) = rows_of(batches_of("start,planned,cause", f"2026-03-01 22:46,{word},y"))
    assert row["severity"] == "info"


@pytest.mark.parametrize(
    ("stamp", "quality"),
    [
        ("2026-03-01 22:46", "zone_assumed"),
        ("2026-03-01T22:46:00", "zone_assumed"),
        ("2026-03-01 22:46:00.000", "zone_assumed"),
        ("2026-03-01 23:46+01:00", "exact"),
        ("2026-03-01 22:46 UTC", "exact"),
        ("2026-03-01T22:46:00Z", "exact"),
        (str(START // SECOND_NS), "exact"),
    ],
)
def test_times_of_every_kind(stamp: str, quality: str) -> None:
    batches = batches_of("start,planned,cause", f"{stamp},no,y")
    (row,) = rows_of(batches)
    assert (row["time_ns"], row["time_quality"]) == (START, quality)
    assert any(batch.zone_used for batch in batches) is (quality == "zone_assumed")


@pytest.mark.parametrize(
    ("name", "cell", "minutes"),
    [
        ("duration_min", "90", 90),
        ("Duration (h)", "1.5", 90),
        ("downtime s", "5400", 90),
        ("duration", "1:30:00", 90),
        ("duration", "90 min", 90),
        ("duration", "1.5h", 90),
        ("Downtime", "2 days", 2880),
    ],
)
def test_durations_have_a_unit(name: str, cell: str, minutes: int) -> None:
    (row,) = rows_of(batches_of(f"start,{name},cause", f"2026-03-01 22:46,{cell},y"))
    assert row["end_ns"] == START + minutes * MINUTE


def test_a_list_of_nodes_gives_a_row_for_each() -> None:
    told = rows_of(
        batches_of(
            "start;planned;cause;nodes",
            "2026-03-01 22:46;no;optic;gpu[01-02], gpu07",
        )
    )
    assert [row["host"] for row in told] == ["gpu01", "gpu02", "gpu07"]


def test_rows_of_nothing_are_no_records() -> None:
    batches = batches_of("start,planned,cause", ",,", " , ,", "")
    assert not rows_of(batches)
    assert not refused(batches)


def test_columns_that_are_not_known_are_counted() -> None:
    batches = batches_of("ticket,start,planned,cause", "7,2026-03-01 22:46,no,y")
    assert len(rows_of(batches)) == 1
    assert repairs(batches) == 1


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (",,no,,,x,,", "start_ns|required"),
        ("2026-03-01,,no,,,x,,", "start_ns|time"),
        ("03/01/2026 10:00,,no,,,x,,", "start_ns|time"),
        ("2026-02-30 10:00,,no,,,x,,", "start_ns|time"),
        ("2026-03-01 10:00,later,no,,,x,,", "end_ns|time"),
        ("2026-03-01 10:00,2026-03-01 09:00,no,,,x,,", "end_ns|order"),
        ("2026-03-01 10:00,,perhaps,,,x,,", "planned|word"),
        ("2026-03-01 10:00,,no,,,x,node[1-3,", "node_list"),
        ("2026-03-01 10:00,,no,,,x,node[1-3,,", "cell_count"),
    ],
)
def test_what_is_no_row_is_refused_by_its_rule(line: str, rule: str) -> None:
    assert refused(batches_of(HEADER, line)) == [("line 2", rule)]


@pytest.mark.parametrize("cell", ["45", "1:30", "9" * 12, "soon"])
def test_a_duration_without_a_unit_is_not_guessed(cell: str) -> None:
    batches = batches_of("start,duration,cause", f"2026-03-01 22:46,{cell},y")
    assert refused(batches) == [("line 2", "duration|unit")]


def test_a_cell_may_go_over_lines() -> None:
    batches = batches_of(
        "start,planned,cause", '2026-03-01 22:46,no,"a,', 'b"', "x", ""
    )
    (row,) = rows_of(batches)
    assert (row["name"], row["place"]) == ("a,\nb", "line 2")
    assert refused(batches) == [("line 4", "cell_count")]


@pytest.mark.parametrize(
    ("header", "known"),
    [
        ("start,end,planned,cause", True),
        ("\ufeffTime\tDown Time (h)\tRoot Cause", True),
        ("component,category,count", False),
        ("start,host", False),
        ("time,cause", False),
        ("timestamp,duration,power.draw [W],uuid,index", False),
        ("a,b,c,d,start,cause,end", False),
    ],
)
def test_known_by_its_header(header: str, known: bool) -> None:
    head = Head("x.csv", f"{header}\n".encode())
    assert interruption_list.recognizes(head) is known


def test_what_has_no_header_says_what_is_needed() -> None:
    with pytest.raises(UnreadableFileError, match="a header with start, cause"):
        batches_of("a,b", "1,2")
