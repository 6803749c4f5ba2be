"""Events of Kubernetes: what is a failure, counts and times, both schemas, watches."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import kubernetes_events
from tests.examples import examples
from tests.ingest.failure_samples import damage, read_bytes, sample_of, takers

SOURCE = kubernetes_events.SOURCE
SAMPLE = sample_of(SOURCE)
S = 1_000_000_000

#: 2026-03-02T09:00:00Z
NINE = 1_772_442_000 * S


def event(**fields: Any) -> dict[str, Any]:
    known: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Event",
        "type": "Warning",
        "reason": "KernelDeadlock",
        "message": "task hung",
        "involvedObject": {"kind": "Node", "name": "n1"},
        "source": {"component": "kernel-monitor", "host": "n9"},
        "firstTimestamp": "2026-03-02T09:00:00Z",
        "lastTimestamp": "2026-03-02T09:00:00Z",
        "count": 1,
        "eventTime": None,
        "series": None,
    }
    return known | fields


def rows_of(*events: Any) -> list[dict[str, Any]]:
    data = b"".join(json.dumps(one).encode() + b"\n" for one in events)
    found, refused = read_bytes(SOURCE, data)
    assert not refused
    return found


def one_of(**fields: Any) -> dict[str, Any]:
    (row,) = rows_of(event(**fields))
    return row


def test_sample() -> None:
    found, refused = read_bytes(SOURCE, SAMPLE)
    assert not refused
    assert takers(SAMPLE)[0] == SOURCE.name
    assert [(r["host"], r["source"], r["code"], r["line_count"]) for r in found] == [
        ("gpu-c11", "health", "OOMKilling", 3),
        ("gpu-c11", "xid", "95", 1),
        ("gpu-c11", "health", "NodeNotReady", 1),
        ("gpu-c11", "scheduler", "Evicted", 1),
        (None, "scheduler", "FailedScheduling", 14),
    ]
    assert found[1]["gpu_key"] == "0000:19:00"


@pytest.mark.parametrize(
    ("words", "severity"), [("Fatal", "fatal"), ("Non-fatal", "warning"), ("", "error")]
)
def test_a_switch_that_the_driver_names(words: str, severity: str) -> None:
    line = f"nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, {words}, Link 48 LTSSM"
    row = one_of(message=line)
    assert (row["source"], row["code"], row["severity"]) == ("sxid", "20034", severity)
    assert (row["gpu_key"], row["part"]) == (None, "switch 0000:06:00 link 48")


def test_an_event_stands_for_its_repeats() -> None:
    row = one_of(count=4, lastTimestamp="2026-03-02T09:30:00Z")
    assert (row["time_ns"], row["end_ns"]) == (NINE, NINE + 1_800 * S)
    assert (row["line_count"], row["time_quality"]) == (4, "exact")
    assert one_of()["end_ns"] is None


@pytest.mark.parametrize(
    ("times", "at"),
    [
        ({"firstTimestamp": None, "lastTimestamp": "2026-03-02T09:00:00Z"}, NINE),
        ({"eventTime": "2026-03-02T09:00:00.000001Z"}, NINE + 1_000),
        ({"metadata": {"creationTimestamp": "2026-03-02T10:00:00+01:00"}}, NINE),
        ({"eventTime": "2026-03-02"}, None),
        ({"eventTime": "0001-01-01T00:00:00Z"}, None),
        ({"eventTime": 17}, None),
        ({}, None),
    ],
)
def test_times(times: dict[str, Any], at: int | None) -> None:
    none = {"firstTimestamp": None, "lastTimestamp": None}
    row = one_of(**(none | times))
    assert row["time_ns"] == at
    assert row["time_quality"] == ("unknown" if at is None else "exact")


@pytest.mark.parametrize(
    ("fields", "severity", "component"),
    [
        ({}, "fatal", "host"),
        ({"reason": "Made up"}, "warning", "host"),
        ({"reason": "Made up", "involvedObject": {"kind": "Pod"}},
         "info", "application"),
        ({"type": "Normal", "reason": "NodeNotReady"}, "error", "host"),
        ({"reason": "FailedScheduling", "involvedObject": {"kind": "Pod"}},
         "info", "scheduler"),
    ],
)  # fmt: skip
def test_how_bad(fields: dict[str, Any], severity: str, component: str) -> None:
    row = one_of(**fields)
    assert (row["severity"], row["component"]) == (severity, component)


@pytest.mark.parametrize("reason", ["Pulled", "Started", "NodeReady", "Made up"])
def test_what_is_normal_is_no_row(reason: str) -> None:
    assert not rows_of(event(type="Normal", reason=reason))


def test_where_it_was() -> None:
    pod = {"kind": "Pod", "namespace": "train", "name": "w-0"}
    row = one_of(involvedObject=pod, reason="BackOff")
    assert (row["host"], row["part"], row["source"]) == (
        "n9",
        "Pod/train/w-0",
        "scheduler",
    )
    by = {"reportingComponent": "kubelet", "reportingInstance": "n7", "source": {}}
    assert one_of(involvedObject=pod, **by)["host"] == "n7"
    by["reportingComponent"] = "default-scheduler"
    assert one_of(involvedObject=pod, **by)["host"] is None


def test_the_newer_schema() -> None:
    newer = {
        "apiVersion": "events.k8s.io/v1",
        "type": "Warning",
        "reason": "OOMKilling",
        "note": "Killed process 7 (python)",
        "regarding": {"kind": "Node", "name": "n1"},
        "deprecatedFirstTimestamp": "2026-03-02T09:00:00Z",
        "deprecatedLastTimestamp": "2026-03-02T09:00:01Z",
        "deprecatedCount": 2,
    }
    (row,) = rows_of(newer)
    assert (row["host"], row["message"]) == ("n1", "Killed process 7 (python)")
    assert (row["time_ns"], row["end_ns"], row["line_count"]) == (NINE, NINE + S, 2)


def test_of_an_event_told_again_the_last_state_counts() -> None:
    told = [event(metadata={"uid": "u1"}, count=n) for n in (1, 2, 5)]
    watch = [{"type": "MODIFIED", "object": one} for one in told]
    mark = {"type": "BOOKMARK", "object": {"kind": "Event"}}
    (row,) = rows_of(*watch, mark)
    assert row["line_count"] == 5
    # a dump every hour, one list after the other
    lists = [{"kind": "List", "items": [one]} for one in told]
    data = "\n".join(json.dumps(one, indent=2) for one in lists).encode()
    assert [r["line_count"] for r in read_bytes(SOURCE, data)[0]] == [5]


def test_events_without_an_identity_are_counted_where_they_are_alike() -> None:
    assert [r["occurrence"] for r in rows_of(event(), event())] == [0, 1]


def test_what_lacks_a_field_is_refused() -> None:
    data = json.dumps([event(reason=""), event(involvedObject=None), 5]).encode()
    found, refused = read_bytes(SOURCE, data)
    assert not found
    assert [one.rule for one in refused] == [
        "reason|required",
        "involvedObject|required",
    ]


def test_rules_and_lists_of_codes_are_no_telemetry(shared: Path) -> None:
    failures = shared / "data/failures"
    rules = sorted((failures / "kubernetes+node-problem-detector").glob("*.json"))
    lists = [failures / "leptonai+gpud/xid_catalog.tsv"]
    assert len(rules) == 4
    assert [takers(path.read_bytes()) for path in rules + lists] == [[]] * 5


@pytest.mark.thorough
@pytest.mark.parametrize("value", [None, [], {}, 5, "x", 1.5, True, 2**70, -1])
@pytest.mark.parametrize("name", [*sorted(event()), "metadata", "note", "object"])
def test_any_value_in_any_field(name: str, value: Any) -> None:
    read_bytes(SOURCE, json.dumps([event(**{name: value})]).encode())


@settings(max_examples=examples(50))
@given(st.one_of(st.binary(max_size=200), damage(SAMPLE)))
def test_damage_is_answered(data: bytes) -> None:
    read_bytes(SOURCE, data)
