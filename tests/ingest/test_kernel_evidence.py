"""Kernel logs: what a node's own hardware tells, and which parts messages name."""

from pathlib import Path
from typing import Any, get_args

import pytest

from ingest.sources import kernel_log
from ingest.sources._kernel.evidence import EVIDENCE
from ingest.tables import Failures
from ingest.xids import Severity
from tests.ingest.readings import held, read_lines, rows

TEXTS = Path(__file__).parent / "kernel"

#: A line of each kind as the kernel prints it, after its code, severity and part.
LINES = [
    line.split(" | ", 3) for line in (TEXTS / "evidence.txt").read_text().splitlines()
]

#: Lines of the same drivers that tell of no failure, or repeat what another tells.
HARMLESS = (TEXTS / "harmless.txt").read_text().splitlines()


def rows_of(*lines: str) -> list[dict[str, Any]]:
    return rows(held(read_lines(kernel_log.SOURCE, *lines)), Failures)


@pytest.mark.parametrize(("code", "severity", "part", "message"), LINES)
def test_each_kind(code: str, severity: str, part: str, message: str) -> None:
    (row,) = rows_of(f"2026-03-01T10:00:00Z n1 kernel: [ 9.5] {message}")
    assert (row["source"], row["code"], row["severity"]) == ("kernel", code, severity)
    assert (row["host"], row["part"] or "-", row["message"]) == ("n1", part, message)


def test_every_kind_has_a_line() -> None:
    assert {one.code for one in EVIDENCE} == {code for code, *_ in LINES}
    assert {one.severity for one in EVIDENCE} <= set(get_args(Severity))


@pytest.mark.parametrize("message", HARMLESS)
def test_harmless_lines_of_the_same_drivers(message: str) -> None:
    assert not rows_of(f"[    9.500000] {message}")


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "[ 9.500000] ",
        "[ 9.500000] [   T1234] ",
        "<3>[ 9.500000] ",
        "3,17,9500000,-;",
        "3,17,9500000,-,caller=T1234;",
        "kern  :err   : [    9.500000] ",
        "kern  :err   : 2026-03-01T10:00:00,123456+00:00 ",
        "[Sun Mar  1 10:00:00 2026] ",
        "Mar  1 10:00:00 n1 kernel: ",
        "Mar  1 10:00:00 n1 kernel: [ 9.500000] ",
        "<3>1 2026-03-01T10:00:00.5Z n1 kernel - - - ",
        "Sun 2026-03-01 10:00:00 UTC n1 kernel: ",
        "1772359200.500000 n1 kernel: ",
    ],
)
def test_the_kernel_speaks_in_every_envelope(prefix: str) -> None:
    (row,) = rows_of(f"{prefix}Kernel panic - not syncing: hung_task: blocked tasks")
    assert row["code"] == "kernel_panic"


def test_what_a_program_says_is_not_the_kernels() -> None:
    line = "Mar  1 10:00:00 n1 trainer[17]: Kernel panic - not syncing: a joke"
    assert not rows_of(line)
    assert not rows_of("Mar  1 10:00:00 n1 sshd[9]: Killed process 17 (python)")


def test_words_of_nvidias_driver_count_in_any_line() -> None:
    line = "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context"
    (row,) = rows_of(f"found in a file: {line}, skipping further processing")
    assert row["code"] == "peermem_invalid_context"


def test_gpus_of_amd_have_their_address() -> None:
    (row,) = rows_of("[ 9.500000] amdgpu 0000:c1:00.0: amdgpu: GPU reset begin!")
    assert row["gpu_key"] == "0000:c1:00"


@pytest.mark.parametrize(
    ("rest", "severity", "name", "part"),
    [
        ("149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x0)",
         "fatal", "NVLink error in NETIR", "NETIR_LINK_EVT link 1"),
        ("149, NETIR Fatal XC0 i0 Link -1 (0x000fe406 0x0)",
         "fatal", "NVLink error in NETIR", "NETIR link -1"),
        ("145, pid=876767, name=ray::WorkerDict, RLW_RXPIPE Nonfatal XC0 i0 Link 13",
         "error", "NVLink error in RLW", "RLW_RXPIPE link 13"),
        ("146, TLW_RX/TLW_RX_PIPE0 Nonfatal XC1 i1 Link 00 (0x0000000a)",
         "info", "NVLink error in TLW (injected)", "TLW_RX/TLW_RX_PIPE0 link 0"),
        ("13, pid=7, name=a, Graphics SM Warp Exception on (GPC 9, TPC 1, SM 1):",
         "error", "compute exception", "GPC 9, TPC 1, SM 1"),
    ],
)  # fmt: skip
def test_what_an_xid_tells_besides_its_code(
    rest: str, severity: str, name: str, part: str
) -> None:
    (row,) = rows_of(f"NVRM: Xid (PCI:0018:01:00): {rest}")
    assert (row["severity"], row["name"], row["part"]) == (severity, name, part)


def test_partitions_of_a_gpu() -> None:
    (row,) = rows_of("NVRM: Xid (PCI:0000:5d:00 GPU-I:05 GPU-CI:00): 94, pid=1, name=a")
    assert (row["code"], row["gpu_key"]) == ("94", "0000:5d:00")
    assert row["part"] == "GPU instance 05, compute instance 00"


@pytest.mark.parametrize(
    ("change", "action", "severity"),
    [
        ("0x0 (None) to 0x4 (Drain and Reset)", "reset_gpu", "warning"),
        ("0x4 (Drain and Reset) to 0x0 (None)", "none", "info"),
        ("0x0 (None) to 0x2 (Node Reboot Required)", "reboot_node", "warning"),
        ("0x0 (None) to 0xe (New)", "follow_other_code", "warning"),
    ],
)
def test_recovery_actions(change: str, action: str, severity: str) -> None:
    line = f"NVRM: Xid (PCI:0019:01:00): 154, GPU recovery action changed from {change}"
    (row,) = rows_of(line)
    assert (row["action"], row["severity"]) == (action, severity)


def test_network_cards_that_are_unwell() -> None:
    found = rows_of(
        "[ 9.500000] mlx5_core 0000:41:00.0 enp65s0f0np0: Link down",
        "[ 9.500000] mlx5_core 0000:41:00.0: print_health_info:441:(pid 0): Health"
        " issue observed, firmware internal error, severity(3) ERROR:",
        "[ 9.500000] mlx5_core 0000:41:00.0: temp_warn:176:(pid 5): High temperature on"
        " sensors with bit set 0x1",
    )
    assert [(r["code"], r["severity"], r["part"]) for r in found] == [
        ("link_down", "warning", "0000:41:00.0"),
        ("card_health", "error", "0000:41:00.0"),
        ("card_hot", "warning", "0000:41:00.0"),
    ]
