"""The systemd journal: numbers as strings, text as bytes, its forms, other programs."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import journald
from tests.examples import examples
from tests.ingest.failure_samples import damage, read_bytes, sample_of, takers

SOURCE = journald.SOURCE
SAMPLE = sample_of(SOURCE)
XID = "NVRM: Xid (PCI:0000:5d:00): 79, pid=1, name=a, GPU has fallen off the bus."
US = 1_000


def entry(message: Any = XID, **fields: Any) -> dict[str, Any]:
    known = {
        "__CURSOR": "s=1;i=2",
        "__REALTIME_TIMESTAMP": "1772442000000123",
        "__MONOTONIC_TIMESTAMP": "5000123",
        "_SOURCE_MONOTONIC_TIMESTAMP": "5000100",
        "_BOOT_ID": "3f5d",
        "_HOSTNAME": "n1",
        "_TRANSPORT": "kernel",
        "SYSLOG_IDENTIFIER": "kernel",
        "PRIORITY": "4",
        "MESSAGE": message,
    }
    return known | fields


def lines_of(*entries: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in entries)


def export_of(*entries: dict[str, Any]) -> bytes:
    parts = []
    for one in entries:
        for name, value in one.items():
            if "\n" in value or name == "BINARY":
                data = value.encode()
                parts.append(name.encode() + b"\n" + len(data).to_bytes(8, "little"))
                parts.append(data + b"\n")
            else:
                parts.append(f"{name}={value}\n".encode())
        parts.append(b"\n")
    return b"".join(parts)


def one_of(*entries: dict[str, Any]) -> dict[str, Any]:
    (row,), refused = read_bytes(SOURCE, lines_of(*entries))
    assert not refused
    return row


def test_sample() -> None:
    found, refused = read_bytes(SOURCE, SAMPLE)
    assert not refused
    assert takers(SAMPLE)[0] == SOURCE.name
    assert [(r["code"], r["host"]) for r in found] == [
        ("119", "gpu-b03"),
        ("154", "gpu-b03"),
        ("kernel_panic", "gpu-b03"),
    ]


def test_times_are_exact() -> None:
    row = one_of(entry())
    assert row["time_ns"] == 1_772_442_000_000_123 * US
    assert row["boot_offset_ns"] == 5_000_100 * US
    assert (row["time_quality"], row["gpu_key"]) == ("exact", "0000:5d:00")
    assert (row["message"], row["place"]) == (XID, "line 1")


@pytest.mark.parametrize(
    "message",
    [
        list(XID.encode()),
        [XID],
        [XID, "again"],
        [*XID.encode(), 0xFF],
        f"{XID}\nmore",
        f"before\r\n{XID}",
    ],
)
def test_messages_that_are_lists(message: list[Any]) -> None:
    assert one_of(entry(message))["code"] == "79"


@pytest.mark.parametrize(
    "fields",
    [
        {"MESSAGE": None},
        {"MESSAGE": [300, -1]},
        {"MESSAGE": [True, 78, 86]},
        {"MESSAGE": {"NVRM: ": 1}},
        {"_TRANSPORT": "stdout", "SYSLOG_IDENTIFIER": "python3"},
        {"_TRANSPORT": "syslog", "SYSLOG_IDENTIFIER": "kernel"},
        {"MESSAGE": "a program says: Kernel panic - not syncing: no"},
    ],
)
def test_what_the_kernel_did_not_say_is_passed_over(fields: dict[str, Any]) -> None:
    assert read_bytes(SOURCE, lines_of(entry(**fields))) == ([], [])


def test_forms() -> None:
    told = [entry("usb 1-1: new"), entry(), entry("Kernel panic - not syncing: x")]
    lines = lines_of(*told)
    marked = b"".join(b"\x1e" + line + b"\n" for line in lines.splitlines())
    pretty = b"\n".join(json.dumps(one, indent=8).encode() for one in told)
    # a field of several lines, and one with a blank line in it
    export = export_of(*(one | {"BINARY": "a\n\nb\n"} for one in told))
    for data in (lines, marked, pretty, export):
        assert takers(data)[0] == SOURCE.name
        found, refused = read_bytes(SOURCE, data)
        assert [r["code"] for r in found] == ["79", "kernel_panic"]
        assert not refused


def test_the_words_of_a_loss_are_one_event() -> None:
    words = ["NVRM: GPU 0000:5d:00.0: GPU has fallen off the bus.", XID]
    row = one_of(*(entry(word) for word in words))
    assert (row["inferred"], row["line_count"]) == (False, 2)


def test_what_is_damaged_is_refused() -> None:
    data = lines_of(entry(__REALTIME_TIMESTAMP="soon"), entry())
    _, refused = read_bytes(SOURCE, data + b'{"MESSAGE": "NVRM: "x"}\n' + data[:100])
    assert sorted((one.place, one.rule) for one in refused) == [
        ("line 1", "__REALTIME_TIMESTAMP|required"),
        ("line 3", "json"),
        ("line 4", "truncated_line"),
    ]
    far = lines_of(entry(__REALTIME_TIMESTAMP=str(2**60)))
    assert len(read_bytes(SOURCE, far)[1]) == 1


def test_a_damaged_export_gives_what_is_before() -> None:
    whole = export_of(entry(), entry())
    cut = whole + b"MESSAGE\n" + (2**40).to_bytes(8, "little") + b"x"
    found, refused = read_bytes(SOURCE, cut)
    assert [r["occurrence"] for r in found] == [0, 1]
    assert [(one.place, one.rule) for one in refused] == [("entry 3", "truncated")]


@pytest.mark.thorough
@pytest.mark.parametrize("value", [None, [], {}, 5, "x", 1.5, True, 2**70, [None]])
@pytest.mark.parametrize("name", sorted(entry()))
def test_any_value_in_any_field(name: str, value: Any) -> None:
    read_bytes(SOURCE, lines_of(entry(), entry(**{name: value})))


@settings(max_examples=examples(50))
@given(st.one_of(st.binary(max_size=200), damage(SAMPLE), damage(export_of(entry()))))
def test_damage_is_answered(data: bytes) -> None:
    read_bytes(SOURCE, data)
