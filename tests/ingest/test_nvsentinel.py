"""Health events of NVSentinel: codes, GPUs, times, database documents, CloudEvents."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import nvsentinel
from tests.examples import examples
from tests.ingest.failure_samples import damage, read_bytes, sample_of, takers

SOURCE = nvsentinel.SOURCE
SAMPLE = sample_of(SOURCE)
UUID = "GPU-11b2c3d4-0a1b-2c3d-4e5f-60718293a4b5"
S = 1_000_000_000


def event(**fields: Any) -> dict[str, Any]:
    known: dict[str, Any] = {
        "agent": "syslog-health-monitor",
        "componentClass": "GPU",
        "checkName": "SysLogsXIDError",
        "isFatal": True,
        "isHealthy": False,
        "message": "an error",
        "recommendedAction": 2,
        "errorCode": ["95"],
        "entitiesImpacted": [{"entityType": "PCI", "entityValue": "0000:4c:00"}],
        "generatedTimestamp": {"seconds": 1772445600, "nanos": 7},
        "nodeName": "n1",
    }
    return known | fields


def rows_of(*events: Any) -> list[dict[str, Any]]:
    found, refused = read_bytes(SOURCE, json.dumps(events).encode())
    assert not refused
    return found


def one_of(**fields: Any) -> dict[str, Any]:
    (row,) = rows_of(event(**fields))
    return row


def test_sample() -> None:
    found, refused = read_bytes(SOURCE, SAMPLE)
    assert not refused
    assert takers(SAMPLE)[0] == SOURCE.name
    assert [(r["source"], r["code"], r["gpu_key"], r["inferred"]) for r in found] == [
        ("xid", "119", UUID, False),
        ("xid", "79", "0000:5d:00", True),
        ("health", "DCGM_FR_NVLINK_DOWN", "index:3", False),
    ]
    assert {r["host"] for r in found} == {"gpu-d02"}
    assert found[0]["time_ns"] == 1_772_445_600 * S + 250_000_000
    assert found[2]["part"] == "nvlink 2"


def test_an_xid_has_the_severity_of_the_catalogue_and_the_action_asked_for() -> None:
    row = one_of(isFatal=False, recommendedAction="CONTACT_SUPPORT")
    assert (row["code"], row["severity"]) == ("95", "fatal")
    assert row["action"] == "inspect_hardware"
    assert one_of(recommendedAction=None)["action"] == "reset_gpu"


def test_errors_of_switches() -> None:
    row = one_of(checkName="SysLogsSXIDError", errorCode=["20034"], isFatal=False)
    assert (row["source"], row["code"], row["severity"]) == ("sxid", "20034", "warning")
    assert (row["gpu_key"], row["part"]) == (None, "switch 0000:4c:00")
    line = "nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 48 LTSSM Up"
    gpu = [{"entityType": "GPU_UUID", "entityValue": UUID}]
    sxid = {"checkName": "SysLogsSXIDError", "errorCode": ["20034"], "message": line}
    row = one_of(entitiesImpacted=gpu, **sxid)
    assert (row["gpu_key"], row["part"]) == (UUID, "switch 0000:06:00 link 48")


def test_each_code_is_a_row_and_health_is_none() -> None:
    assert [r["code"] for r in rows_of(event(errorCode=["94", "63"]))] == ["94", "63"]
    assert not rows_of(event(isHealthy=True))
    row = one_of(checkName="GpuPcieWatch", errorCode=[])
    assert (row["code"], row["component"]) == ("GpuPcieWatch", "pcie")


@pytest.mark.parametrize(
    ("stamp", "at"),
    [
        ({"seconds": "1772445600"}, 1_772_445_600 * S),
        ({"seconds": {"$numberLong": "1772445600"}, "nanos": 5}, 1_772_445_600 * S + 5),
        ("2026-03-02T10:00:00.25Z", 1_772_445_600 * S + 250_000_000),
        ({"seconds": 2**62}, None),
        (None, None),
    ],
)
def test_times(stamp: Any, at: int | None) -> None:
    assert one_of(generatedTimestamp=stamp)["time_ns"] == at


def test_wrappers() -> None:
    lower = {key.lower(): value for key, value in event().items()}
    cloud = {"specversion": "1.0", "data": {"metadata": {}, "healthEvent": event()}}
    stored = {"_id": "x", "healthevent": lower, "healtheventstatus": {}}
    batch = {"version": 1, "events": [event()]}
    for one in (cloud, stored, batch):
        data = json.dumps(one).encode()
        assert takers(data)[0] == SOURCE.name
        assert [r["code"] for r in read_bytes(SOURCE, data)[0]] == ["95"]


@pytest.mark.thorough
@pytest.mark.parametrize("value", [None, [], {}, 5, "x", 1.5, True, 2**70, [None]])
@pytest.mark.parametrize("name", sorted(event()))
def test_any_value_in_any_field(name: str, value: Any) -> None:
    read_bytes(SOURCE, json.dumps([event(**{name: value})]).encode())


@settings(max_examples=examples(50))
@given(st.one_of(st.binary(max_size=200), damage(SAMPLE)))
def test_damage_is_answered(data: bytes) -> None:
    read_bytes(SOURCE, data)
