"""Kernel logs: events, identities of GPUs, refused look-alikes."""

import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import kernel_log
from ingest.sources._kernel import messages
from ingest.sources._kernel.patterns import TELLING
from ingest.sources._source import Batch, Head
from ingest.tables import Failures
from ingest.xids import UNKNOWN_NAME
from tests.examples import examples
from tests.ingest.readings import held, read_lines, reading, rows

XID = "NVRM: Xid (PCI:0000:5D:00): 79, pid=1, name=python, GPU has fallen off the bus."


def batches_of(*lines: str) -> list[Batch]:
    return read_lines(kernel_log.SOURCE, *lines)


def rows_of(batches: list[Batch]) -> list[dict[str, Any]]:
    return rows(held(batches), Failures)


def one_of(*lines: str) -> dict[str, Any]:
    (row,) = rows_of(batches_of(*lines))
    return row


def test_fallen_off_the_bus_without_a_code() -> None:
    row = one_of("NVRM: GPU 0000:29:00.0: GPU has fallen off the bus.")
    assert (row["code"], row["inferred"], row["line_count"]) == ("79", True, 1)
    row = one_of(
        "[ 5.0] NVRM: The NVIDIA GPU 0000:18:00.0",
        "[ 5.0] NVRM: (PCI ID: 10de:2901) installed in this system has",
        "[ 5.0] NVRM: fallen off the bus and is not responding to commands.",
    )
    assert (row["code"], row["gpu_key"], row["line_count"]) == ("79", "0000:18:00", 3)


def test_identity_told_before_belongs_to_later_events() -> None:
    uuid = "GPU-509665ad-b600-ac93-3616-d754b23d636d"
    rows = rows_of(
        batches_of(
            XID,
            f"NVRM: GPU at PCI:0000:5d:00: {uuid}",
            XID,
            "NVRM: GPU at PCI:0000:9b:00: none",
            "NVRM: GPU 0000:9b:00.0: GPU serial number is 1653723052734.",
            XID.replace("5D", "9B"),
        )
    )
    assert [r["gpu_key"] for r in rows] == ["0000:5d:00", uuid, "1653723052734"]


def test_switch_errors_take_their_continuation_lines() -> None:
    start = "nvidia-nvswitch2: SXid (PCI:0000:07:00.0): 20034,"
    row = one_of(
        f"[6781753.4] {start} Fatal, Link 37 LTSSM Fault Up",
        f"[6781753.5] {start} Severity 1 Engine instance 37 Sub-engine instance 00",
        f"[6781753.6] {start} Data {{0x50610002, 0x10100030}}",
    )
    assert (row["source"], row["code"], row["severity"]) == ("sxid", "20034", "fatal")
    assert (row["name"], row["line_count"]) == ("LTSSM Fault Up", 3)
    assert (row["gpu_key"], row["part"]) == (None, "switch 0000:07:00 link 37")


def test_a_switch_is_named_where_no_link_is() -> None:
    row = one_of("[1.5] nvidia-nvswitch3: SXid (PCI:0000:A5:00.0): 12028, Non-fatal")
    assert (row["gpu_key"], row["part"]) == (None, "switch 0000:a5:00")


def test_network_cards() -> None:
    rows = rows_of(
        batches_of(
            "mlx5_core 0000:5c:00.0: mlx5_pcie_event:299:(pid 2): "
            "Detected insufficient power on the PCIe slot (27W).",
            "mlx5_port_module_event:1131:(pid 0): Port module event[error]: module 0, "
            "Cable error, High Temperature",
            "Port module event[warning]: module 1, Cable error, Low Signal",
            "mlx5_core 0000:41:00.1: Port module event: module 1, Cable unplugged",
        )
    )
    assert [(r["source"], r["code"], r["severity"]) for r in rows] == [
        ("nic", "insufficient_power", "warning"),
        ("nic", "high_temperature", "error"),
        ("nic", "cable_error", "warning"),
    ]


def test_look_alikes_are_refused_with_their_line() -> None:
    batches = batches_of(
        "NVRM: Xid error: xyz, invalid data",
        "an ordinary line",
        "NVRM: Xid (invalid): some error",
        "NVRM: Xid (PCI:0000:5d:00): 0, nothing",
    )
    refused = [(r.place, r.rule) for batch in batches for r in batch.refused]
    assert refused == [
        ("line 1", "xid_without_address_or_code"),
        ("line 3", "xid_without_address_or_code"),
        ("line 4", "xid_zero"),
    ]
    assert not rows_of(batches)
    assert sum(batch.records for batch in batches) == 4


def test_events_alike_to_the_letter_are_counted() -> None:
    rows = rows_of(batches_of(XID, XID.replace("79", "74"), XID))
    assert [r["occurrence"] for r in rows] == [0, 0, 1]


def test_codes_outside_the_catalogue_are_kept() -> None:
    row = one_of(XID.replace("79", "99999"))
    assert (row["code"], row["name"]) == ("99999", UNKNOWN_NAME)
    assert row["severity"] is None


def test_recovery_action_is_the_one_asked_for() -> None:
    changed = "154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot)"
    assert one_of(f"NVRM: Xid (PCI:0009:01:00): {changed}")["action"] == "reboot_node"


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("Nov 22 18:29:55 n1 systemd[1]: Started.\n" * 3, True),
        ("[    0.000000] Linux version 6.8\n[    0.100000] x86/fpu\n", True),
        ("2025-01-21T04:41:44+00:00 n1 sshd[7]: Accepted\n", True),
        ("kern  :info  : 2025-01-21T04:41:44,283302+00:00 usb 1-1\n", True),
        (f"some words before {XID}", True),
        ("6,3964,206764307,-;usb 1-1\n SUBSYSTEM=usb\n DEVICE=c189:1\n" * 3, True),
        ("Panic#1 Part1\n<6>[  201.650687] usb 1-1\n", True),
        ("1737434504.285060 n1 systemd[1]: Started.\n", True),
        ("Tue 2025-01-21 04:41:44 UTC n1 systemd[1]: Started.\n", True),
        ("2025-01-21T04:41:44+00:00 INFO trainer: step 1\n", False),
        ("JobID|State\n1|FAILED\n", False),
        ('{"message": "NVRM: Xid (PCI:0000:5d:00): 79, x"}\n', False),
        ("", False),
    ],
)
def test_recognized_by_content(text: str, known: bool) -> None:
    assert kernel_log.recognizes(Head("anything", text.encode())) is known


def test_every_real_xid_and_sxid_line_is_an_event(shared: Path) -> None:
    table = shared / "data/failures/leptonai+gpud/kernel_lines.tsv"
    records = [line.split("\t") for line in table.read_text().splitlines()[1:] if line]
    kinds, lines = [r[0] for r in records], [r[-1] for r in records]
    assert kernel_log.recognizes(Head("log", "\n".join(lines).encode()))
    rows = rows_of(batches_of(*lines))
    place = {r["place"]: r for r in rows}
    for kind, expected in (("xid", 69), ("sxid", 9), ("sxid_cont", 3)):
        numbers = [i for i, k in enumerate(kinds, 1) if k == kind]
        assert len(numbers) == expected
        found = [place[f"line {i}"] for i in numbers if f"line {i}" in place]
        assert len(found) == (0 if kind == "sxid_cont" else expected)
        codes = [records[i - 1][1] for i in numbers]
        assert [r["code"] for r in found] == (codes if found else [])


FRAGMENTS = (
    XID,
    "NVRM: Xid (PCI:0000:5d:00): 0, x",
    "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 12028, Fatal",
    "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 12028, Data {0x0}",
    "NVRM: fallen off the bus and is not responding",
    "Feb 29 10:00:00 n1 kernel: ",
    "Nov 31 25:00:00 n1 kernel: ",
    "[ 12.5] ",
    "2199-12-31T23:59:59.999999999-99:99 n1 kernel: ",
    "\x00\t\N{REPLACEMENT CHARACTER}",
)


@settings(max_examples=examples(50))
@given(st.lists(st.lists(st.sampled_from(FRAGMENTS), max_size=4), max_size=12))
def test_every_telling_line_is_an_event_or_refused(pieces: list[list[str]]) -> None:
    batches = batches_of(*("".join(line) for line in pieces))
    rows = rows_of(batches)
    refused = [refusal for batch in batches for refusal in batch.refused]
    records = sum(batch.records for batch in batches)
    assert len(rows) + len(refused) <= records <= len(pieces)
    keys = [tuple(row[name] for name in Failures.key) for row in rows]
    assert len(set(keys)) == len(keys)


SAYS = ("evidence.txt", "harmless.txt")
SAID = [
    line.split(" | ", 3)[-1]
    for name in SAYS
    for line in (Path(__file__).parent / "kernel" / name).read_text().splitlines()
]


def test_every_kind_of_message_has_a_telling_word() -> None:
    lines = pl.DataFrame({"line": SAID}, schema={"line": pl.String})
    told = lines.with_columns(message=messages.message(), prefix=messages.prefix())
    of_a_kind = told.filter(messages.kind().is_not_null())["line"]
    assert of_a_kind.len() > 30
    for line in of_a_kind:
        assert any(word in line.encode() for word in TELLING), line


LINE = st.one_of(
    st.sampled_from(SAID),
    st.sampled_from(["", " ", "plain", "mlx5_core: Port module event: module 1", XID]),
    st.lists(
        st.sampled_from([word.decode() for word in TELLING] + ["x", "mlx5_core a:"]),
        max_size=3,
    ).map(" ".join),
)


@given(lines=st.lists(LINE, max_size=8), is_whole=st.booleans())
@settings(max_examples=examples(100), deadline=None)
def test_a_short_log_is_read_as_a_long_one(lines: list[str], is_whole: bool) -> None:
    data = "\n".join([*lines, ""] if is_whole else lines).encode()
    short = list(kernel_log.read(io.BytesIO(data), reading()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_log, "_may_tell", lambda _: True)
        long = list(kernel_log.read(io.BytesIO(data), reading()))
    assert told(short) == told(long)


def told(batches: list[Batch]) -> object:
    found = [frame.rows(named=True) for b in batches for frame in b.rows.values()]
    counts = [(b.refused, b.records, b.repairs, b.zone_used) for b in batches]
    return found, [count for count in counts if any(count)]
