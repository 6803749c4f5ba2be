"""Log of the fabric manager: errors, switches and ports, local time."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import fabric_manager
from ingest.tables import Failures
from ingest.times import parse_zone
from tests.examples import examples
from tests.ingest.failure_samples import damage, read_bytes, sample_of, takers
from tests.ingest.readings import held, read_lines, refused, rows

SOURCE = fabric_manager.SOURCE
SAMPLE = sample_of(SOURCE)
TAIL = "on fid 0 on NVSwitch pci bus id 00000000:86:00.0 physical id 3 port 33"


def rows_of(*lines: str, **told: Any) -> list[dict[str, Any]]:
    return rows(held(read_lines(SOURCE, *lines, **told)), Failures)


def test_sample() -> None:
    found, not_rows = read_bytes(SOURCE, SAMPLE)
    assert not not_rows
    assert takers(SAMPLE)[0] == SOURCE.name
    assert [(r["source"], r["code"], r["severity"]) for r in found] == [
        ("sxid", "12028", "warning"),
        ("sxid", "20034", "fatal"),
        ("other", "fabric_manager", "error"),
    ]


def test_a_switch_and_its_port() -> None:
    start = "[Jul 23 2024 07:53:55] [ERROR] [tid 841]"
    line = f"{start} detected NVSwitch fatal error 9 {TAIL}"
    (row,) = rows_of(line, zone=parse_zone("Europe/Berlin"), zone_basis="run_card")
    assert (row["code"], row["part"]) == ("9", "switch 0000:86:00 link 33")
    # 07:53:55 in Berlin is 05:53:55 UTC
    assert row["time_ns"] == 1_721_714_035 * 10**9
    assert (row["time_quality"], row["component"]) == ("exact", "nvlink")


@pytest.mark.parametrize(
    ("named", "part"),
    [
        ("physical id 3 port 33", "switch 3 port 33"),
        ("on NVSwitch pci bus id 00000000:86:00.0", "switch 0000:86:00"),
        ("somewhere", None),
    ],
)
def test_what_is_told_of_a_switch(named: str, part: str | None) -> None:
    start = "[Jul 23 2024 07:53:55] [ERROR] [tid 841]"
    (row,) = rows_of(f"{start} detected NVSwitch fatal error 9 {named}")
    assert (row["code"], row["part"]) == ("9", part)


@pytest.mark.parametrize("level", ["INFO", "WARNING", "DEBUG"])
def test_other_levels_are_no_rows(level: str) -> None:
    assert not rows_of(
        f"[Feb 25 2025 13:59:45] [{level}] [tid 1803] Received a message"
    )


def test_critical_errors_and_repeats() -> None:
    line = "[Feb  5 2025 13:59:45] [CRITICAL] [tid 1803] aborting"
    found = rows_of(line, line)
    assert [(r["severity"], r["occurrence"]) for r in found] == [
        ("fatal", 0),
        ("fatal", 1),
    ]


def test_a_day_that_there_is_not_is_refused() -> None:
    batches = read_lines(SOURCE, "[Feb 30 2025 13:59:45] [ERROR] [tid 1] x")
    assert refused(batches) == [("line 1", "time_ns|no_such_time")]


@settings(max_examples=examples(50))
@given(st.one_of(st.binary(max_size=200), damage(SAMPLE)))
def test_damage_is_answered(data: bytes) -> None:
    read_bytes(SOURCE, data)
