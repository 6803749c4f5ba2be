"""Kernel logs: a GPU that fell off the bus is one event, however it was said."""

from typing import Any

from ingest.sources import kernel_log
from ingest.tables import Failures
from tests.ingest.readings import held, read_lines, refused, rows

ONE = "NVRM: GPU 0000:{}:00.0: GPU has fallen off the bus."
THREE = (
    "NVRM: The NVIDIA GPU 0000:{}:00.0",
    "NVRM: (PCI ID: 10de:2901) installed in this system has",
    "NVRM: fallen off the bus and is not responding to commands.",
)
XID = "NVRM: Xid (PCI:0000:{}:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen"


def rows_of(*lines: str) -> list[dict[str, Any]]:
    return rows(held(read_lines(kernel_log.SOURCE, *lines)), Failures)


def at(second: float, *lines: str) -> list[str]:
    return [f"[{second:12.6f}] {line}" for line in lines]


def test_words_beside_the_code_are_not_a_second_event() -> None:
    # 91:  XID 100 s, words 100.1 s, three lines 101 s
    (row,) = rows_of(
        *at(100, XID.format("91")),
        *at(100.1, ONE.format("91")),
        *at(101, *(line.format("91") for line in THREE)),
    )
    assert (row["code"], row["inferred"], row["line_count"]) == ("79", False, 5)


def test_words_before_the_code_are_not_either() -> None:
    (row,) = rows_of(*at(100, ONE.format("91")), *at(101, XID.format("91")))
    assert (row["inferred"], row["line_count"]) == (False, 2)
    assert row["boot_offset_ns"] == 101 * 10**9


def test_one_inferred_event_for_each_gpu() -> None:
    found = rows_of(
        *at(100, *(line.format("18") for line in THREE)),
        *at(101, ONE.format("18"), ONE.format("29")),
        *at(102, ONE.format("29")),
    )
    assert [(r["gpu_key"], r["inferred"], r["line_count"]) for r in found] == [
        ("0000:18:00", True, 4),
        ("0000:29:00", True, 2),
    ]


def test_messages_of_two_gpus_may_be_mixed() -> None:
    one, two = ([line.format(bus) for line in THREE] for bus in ("18", "29"))
    mixed = [line for pair in zip(one, two, strict=True) for line in pair]
    found = rows_of(*at(100, *mixed))
    assert [r["gpu_key"] for r in found] == ["0000:18:00", "0000:29:00"]
    # the first line of one is far from what follows
    lost = [one[0], *["NVRM: nothing"] * 20, *two]
    assert [r["gpu_key"] for r in rows_of(*lost)] == ["0000:29:00"]


def test_a_loss_after_more_than_five_minutes_is_another() -> None:
    # 100 s and 300 s are one; 601 s is 301 s later
    found = rows_of(
        *at(100, ONE.format("18")),
        *at(300, ONE.format("18")),
        *at(601, ONE.format("18")),
    )
    assert [r["line_count"] for r in found] == [2, 1]
    # 3 s | 1000 s: the code is not near the words
    found = rows_of(*at(3, ONE.format("18")), *at(1000, XID.format("18")))
    assert [r["inferred"] for r in found] == [True, False]


def test_codes_are_never_folded() -> None:
    found = rows_of(*at(100, XID.format("18"), ONE.format("18"), XID.format("18")))
    assert [(r["inferred"], r["line_count"]) for r in found] == [(False, 2), (False, 1)]


def test_nodes_and_lines_without_a_time_are_told_apart() -> None:
    lines = [f"2026-03-01T10:00:0{n}Z n{n} kernel: {ONE.format('18')}" for n in (1, 2)]
    assert [r["host"] for r in rows_of(*lines)] == ["n1", "n2"]
    near = [ONE.format("18"), *["NVRM: nothing"] * 98, ONE.format("18")]
    assert [r["line_count"] for r in rows_of(*near)] == [2]
    far = [ONE.format("18"), *["NVRM: nothing"] * 100, ONE.format("18")]
    assert [r["line_count"] for r in rows_of(*far)] == [1, 1]


def test_old_words() -> None:
    (row,) = rows_of("NVRM: GPU at 0000:02:00.0 has fallen off the bus.")
    assert (row["code"], row["gpu_key"], row["inferred"]) == ("79", "0000:02:00", True)


def test_words_without_an_address_are_kept() -> None:
    batches = held(read_lines(kernel_log.SOURCE, THREE[2], "some other line", THREE[2]))
    assert [r["gpu_key"] for r in rows(batches, Failures)] == [None, None]
    assert not refused(batches)
