"""ipmitool and Redfish: power of whole nodes."""

from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from ingest.sources import Batch, Head, Source, ipmitool, redfish
from ingest.tables import PowerSamples
from ingest.times import parse_zone
from tests.ingest.readings import MARK, held, read_lines, records, refused, rows

NOON_NS = int(datetime(2024, 2, 15, 8, 36, 1, tzinfo=UTC).timestamp()) * 10**9


def read(source: Source, *lines: str, **told: Any) -> list[Batch]:
    return held(read_lines(source, *lines, **told))


readings_of = partial(read, ipmitool.SOURCE)

READING = """
    Instantaneous power reading:                   332 Watts
    Minimum during sampling period:                 68 Watts
    Maximum during sampling period:                504 Watts
    Average power reading over sample period:      348 Watts
    IPMI timestamp:                           Thu Feb 15 08:36:01 2024
    Sampling period:                          00000001 Seconds.
    Power reading state is:                   activated
"""


def nodes(*texts: str, **told: Any) -> list[dict[str, Any]]:
    return rows(readings_of(*"".join(texts).split("\n"), **told), PowerSamples)


def test_a_reading_of_a_node() -> None:
    (row,) = nodes(READING, name="ipmitool-node-07.txt")
    assert (row["level"], row["gpu_uuid"], row["host"]) == (
        "node_ac",
        "node",
        "node-07",
    )
    assert (row["power_instant_w"], row["power_average_w"]) == (332.0, 348.0)
    assert (row["time_ns"], row["time_quality"]) == (NOON_NS, "zone_assumed")


def test_a_node_that_nothing_names() -> None:
    (row,) = nodes(READING, name="power.txt")
    assert (row["host"], row["gpu_uuid"]) == (None, "node of power.txt ffffffff")


@pytest.mark.parametrize("number", ["332", "348", "00000001"])
def test_digits_of_other_scripts_are_none(number: str) -> None:
    odd = number[:-1] + "\N{ARABIC-INDIC DIGIT THREE}"
    batches = readings_of(*READING.replace(number, odd).split("\n"))
    is_needed = number == "332"
    assert refused(batches) == [("line 2", "power_instant_w|value")] * is_needed
    for row in rows(batches, PowerSamples):
        assert row["power_average_w"] is None


def test_a_mean_over_a_minute_is_no_mean_over_a_second() -> None:
    (row,) = nodes(READING.replace("00000001", "00000060"))
    assert (row["power_instant_w"], row["power_average_w"]) == (332.0, None)


def test_time_of_a_bmc() -> None:
    told = {"zone": parse_zone("+01:00"), "zone_basis": "option"}
    (row,) = nodes(READING, **told)
    assert row["time_ns"] == NOON_NS - 3_600 * 10**9
    other = READING.replace("Thu Feb 15 08:36:01 2024", "02/15/2024 08:36:01 UTC")
    (row,) = nodes(other, **told)
    assert (row["time_ns"], row["time_quality"]) == (NOON_NS, "exact")


@pytest.mark.parametrize(
    ("old", "new"),
    [(": activated", ": deactivated"), ("  332 Watts", "    0 Watts")],
)
def test_a_bmc_without_a_sensor_measures_nothing(old: str, new: str) -> None:
    text = READING.replace(":                   activated", ": activated")
    batches = readings_of(*text.replace(old, new).split("\n"))
    assert refused(batches) == [("line 2", "power_instant_w|missing")]


def test_nodes_may_be_interleaved() -> None:
    lines = [line for line in READING.split("\n") if line]
    both = [
        f"node-{n}: {line}".replace("332", str(332 + n))
        for line in lines
        for n in (7, 8)
    ]
    found = rows(readings_of(*both), PowerSamples)
    assert [(row["host"], row["power_instant_w"]) for row in found] == [
        ("node-7", 339.0),
        ("node-8", 340.0),
    ]


def test_a_reading_that_is_cut_short() -> None:
    lines = READING.split("\n")[:5]
    batches = readings_of(*lines, *READING.split("\n"))
    assert refused(batches) == [("line 2", "truncated_line")]
    assert len(rows(batches, PowerSamples)) == 1
    assert records(batches) == 2


RESOURCE = (
    '{"@odata.id":"/redfish/v1/Chassis/1/Power","@odata.type":"#Power.v1_7_1.Power",'
    '"PowerControl":[{"PowerConsumedWatts":8344,"PowerLimit":{"LimitInWatts":null},'
    '"PowerMetrics":{"AverageConsumedWatts":8120,"IntervalInMin":5}},'
    '{"PowerConsumedWatts":612}],"PowerSupplies":[{"PowerInputWatts":900,'
    '"PowerOutputWatts":203}]}'
)


def test_a_resource_of_redfish() -> None:
    assert redfish.recognizes(Head("any", RESOURCE.encode()))
    batches = read(redfish.SOURCE, RESOURCE, modified_ns=7)
    (row,) = rows(batches, PowerSamples)
    assert (row["level"], row["gpu_uuid"]) == (
        "node_ac",
        f"/redfish/v1/Chassis/1/Power of {MARK}",
    )
    assert (row["power_instant_w"], row["power_limit_w"]) == (8344.0, None)
    assert (row["time_ns"], row["time_quality"]) == (7, "file_time")
    assert "power_average_w" not in row or row["power_average_w"] is None


def test_resources_that_say_nothing() -> None:
    none = RESOURCE.replace("8344", "null")
    batches = read(redfish.SOURCE, none)
    assert refused(batches) == [("line 1", "power_instant_w|required")]
    batches = read(redfish.SOURCE, RESOURCE, RESOURCE)
    assert [rule for _, rule in refused(batches)] == ["time_ns|required"] * 2
