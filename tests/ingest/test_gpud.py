"""Answers of gpud: events, states, Xids in words, severities of its own."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import gpud
from tests.examples import examples
from tests.ingest.failure_samples import damage, read_bytes, sample_of, takers

SOURCE = gpud.SOURCE
SAMPLE = sample_of(SOURCE)
UUID = "GPU-7d1c30b2-4f1a-8e06-93aa-5c0e61b7d2f4"


def rows_of(component: str, **told: Any) -> list[dict[str, Any]]:
    answer = [{"component": component, "startTime": "x", "endTime": "y", **told}]
    found, refused = read_bytes(SOURCE, json.dumps(answer).encode())
    assert not refused
    return found


def of_event(component: str = "os", **fields: Any) -> dict[str, Any]:
    one = {"time": "2026-03-02T09:00:00Z", "name": "an_event", "type": "Warning"}
    (row,) = rows_of(component, events=[one | fields])
    return row


def test_sample() -> None:
    found, refused = read_bytes(SOURCE, SAMPLE)
    assert not refused
    assert takers(SAMPLE)[0] == SOURCE.name
    assert [(r["source"], r["code"], r["gpu_key"]) for r in found] == [
        ("xid", "79", UUID),
        ("xid", "45", UUID),
        ("health", "reboot", None),
        ("health", "accelerator-nvidia-infiniband", None),
    ]
    assert [r["component"] for r in found[2:]] == ["host", "network"]
    assert found[3]["action"] == "inspect_hardware"


@pytest.mark.parametrize(
    ("kind", "severity"),
    [("Fatal", "fatal"), ("Critical", "error"), ("Warning", "warning"),
     ("Info", "info"), ("Unknown", None)],
)  # fmt: skip
def test_severities(kind: str, severity: str | None) -> None:
    assert of_event(type=kind)["severity"] == severity


@pytest.mark.parametrize(
    "fields",
    [
        {"message": f"XID 94 (contained) detected on GPU {UUID}"},
        {"message": f"NVRM: Xid (PCI:0000:9b:00): 94, pid=1, name=a {UUID}"},
        {"message": "x", "extra_info": {"xid": "94", "device_uuid": UUID}},
        {"message": "x", "extra_info": {"data": f'{{"xid": 1}} xid=94 {UUID}'}},
    ],
)
def test_an_xid_keeps_its_code(fields: dict[str, Any]) -> None:
    row = of_event("accelerator-nvidia-error-xid", name="error_xid", **fields)
    assert (row["source"], row["gpu_key"]) == ("xid", UUID)
    assert row["code"] == "94"
    # the catalogue's, whoever reports it
    assert (row["severity"], row["action"]) == ("error", "restart_application")


def test_an_error_of_a_switch_keeps_its_code() -> None:
    row = of_event(
        "accelerator-nvidia-error-sxid", name="error_sxid", message="SXid 20034 found"
    )
    assert (row["source"], row["code"], row["component"]) == ("sxid", "20034", "nvlink")


def test_the_lines_of_the_driver_name_gpu_and_switch() -> None:
    line = "NVRM: Xid (PCI:0000:19:00): 95, pid=1, name=a"
    row = of_event("accelerator-nvidia-error-xid", name="error_xid", message=line)
    assert (row["code"], row["gpu_key"], row["part"]) == ("95", "0000:19:00", None)
    line = "nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 48 LTSSM Up"
    row = of_event("accelerator-nvidia-error-sxid", name="error_sxid", message=line)
    assert (row["code"], row["gpu_key"]) == ("20034", None)
    assert row["part"] == "switch 0000:06:00 link 48"


@pytest.mark.parametrize(
    ("health", "severity"),
    [("Unhealthy", "error"), ("Degraded", "warning"), ("Healthy", None),
     ("Initializing", None)],
)  # fmt: skip
def test_states(health: str, severity: str | None) -> None:
    states = [{"time": "0001-01-01T00:00:00Z", "health": health, "reason": "r",
               "error": "e"}]  # fmt: skip
    found = rows_of("accelerator-nvidia-nvlink", states=states)
    assert [r["severity"] for r in found] == ([severity] if severity else [])
    for row in found:
        assert (row["message"], row["component"]) == ("r: e", "nvlink")
        assert (row["time_ns"], row["time_quality"]) == (None, "unknown")


def test_info_holds_both() -> None:
    info = {
        "events": [{"time": "2026-03-02T09:00:00Z", "name": "n", "type": "Fatal"}],
        "states": [{"health": "Unhealthy", "reason": "r"}],
        "metrics": [],
    }
    assert [r["code"] for r in rows_of("cpu", info=info)] == ["n", "cpu"]


def test_what_lacks_a_field_is_refused() -> None:
    answer = [{"component": "os", "events": [{"time": "x"}, 5]}, {"events": []}]
    found, refused = read_bytes(SOURCE, json.dumps(answer).encode())
    assert not found
    assert [(one.place, one.rule) for one in refused] == [
        ("entry 1, events 1", "name|required"),
        ("entry 1, events 2", "type"),
        ("entry 2", "component|required"),
    ]


@settings(max_examples=examples(50))
@given(st.one_of(st.binary(max_size=200), damage(SAMPLE)))
def test_damage_is_answered(data: bytes) -> None:
    read_bytes(SOURCE, data)
