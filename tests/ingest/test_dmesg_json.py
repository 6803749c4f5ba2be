"""Kernel messages of `dmesg --json`: times since boot, the clock, stamps."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import dmesg_json
from tests.examples import examples
from tests.ingest.failure_samples import damage, read_bytes, sample_of, takers

SOURCE = dmesg_json.SOURCE
SAMPLE = sample_of(SOURCE)
XID = "NVRM: Xid (PCI:0000:5d:00): 79, pid=1, name=a, GPU has fallen off the bus."


def rows_of(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    found, refused = read_bytes(SOURCE, json.dumps({"dmesg": messages}).encode())
    assert not refused
    return found


def test_sample() -> None:
    found, refused = read_bytes(SOURCE, SAMPLE)
    assert not refused
    assert takers(SAMPLE)[0] == SOURCE.name
    assert [(r["code"], r["boot_offset_ns"], r["time_quality"]) for r in found] == [
        ("63", 35_201_120_934_000, "boot_relative"),
        ("nvme_timeout", 48_112_500_250_000, "boot_relative"),
    ]
    # the clock was set to 1772421069 s when 1.75 s had passed
    assert (
        found[0]["time_ns"]
        == 1_772_421_069 * 10**9 + 35_201_120_934_000 - 1_750_000_000
    )


def test_digits_are_kept() -> None:
    (row,) = rows_of({"pri": 4, "time": 2397166.983093, "msg": XID})
    assert row["boot_offset_ns"] == 2_397_166_983_093_000
    assert (row["time_ns"], row["place"]) == (None, "entry 1")


def test_stamps() -> None:
    stamp = "2025-01-21T04:41:44,283302+00:00"
    (row,) = rows_of({"pri": 4, "time": stamp, "msg": XID})
    assert row["time_ns"] == 1_737_434_504_283_302_000
    assert row["time_quality"] == "exact"


@pytest.mark.parametrize("value", [None, [], {}, -1, 2**70, 1e300, True, "x", 5])
@pytest.mark.parametrize("name", ["pri", "time", "msg"])
def test_any_value_in_any_field(name: str, value: Any) -> None:
    rows_of({"pri": 4, "time": 5.25, "msg": XID} | {name: value})


@settings(max_examples=examples(30))
@given(st.one_of(st.binary(max_size=200), damage(SAMPLE)))
def test_damage_is_answered(data: bytes) -> None:
    read_bytes(SOURCE, data)
