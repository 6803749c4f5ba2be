"""Kernel logs: times of every envelope, and the years that syslog leaves out."""

from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from ingest.sources import _lines_frames, kernel_log
from ingest.sources._source import Batch
from ingest.tables import Failures
from ingest.times import parse_zone
from tests.ingest.readings import held, read_lines, rows

XID = "NVRM: Xid (PCI:0000:5D:00): 79, pid=1, name=python, GPU has fallen off the bus."


def ns(text: str) -> int:
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return int(moment.timestamp()) * 10**9 + moment.microsecond * 1_000


def batches_of(
    *lines: str,
    zone: str = "UTC",
    assumed: bool = True,
    year: int | None = None,
    modified: str = "2025-03-15T12:00:00",
) -> list[Batch]:
    told = {
        "zone": parse_zone(zone),
        "zone_basis": "assumed" if assumed else "option",
        "year": year,
        "modified_ns": ns(modified),
    }
    return read_lines(kernel_log.SOURCE, *lines, **told)


def rows_of(batches: list[Batch]) -> list[dict[str, Any]]:
    return rows(held(batches), Failures)


def one_of(*lines: str, **options: Any) -> dict[str, Any]:
    (row,) = rows_of(batches_of(*lines, **options))
    return row


@pytest.mark.parametrize(
    ("line", "host", "time", "quality"),
    [
        (f"2025-01-21T04:41:44.285060+01:00 n1 kernel: {XID}",
         "n1", "2025-01-21T03:41:44.285060", "exact"),
        (f"2025-01-21T04:41:44+0000 n1 kernel: [  9.5] {XID}",
         "n1", "2025-01-21T04:41:44", "exact"),
        (f"<4>1 2025-01-21T04:41:44Z n1 kernel - - - {XID}",
         "n1", "2025-01-21T04:41:44", "exact"),
        (f"kern  :warn  : 2025-01-21T04:41:44,283302+00:00 {XID}",
         None, "2025-01-21T04:41:44.283302", "exact"),
        (f"[Sun Feb 23 16:24:18 2025] {XID}",
         None, "2025-02-23T16:24:18", "zone_assumed"),
        (f"Nov 22 18:29:55 n1 kernel: [  966.503025] {XID}",
         "n1", "2024-11-22T18:29:55", "year_inferred"),
        (f"[2397166.983093] {XID}", None, None, "boot_relative"),
        (f"<6>[  201.650687] {XID}", None, None, "boot_relative"),
        (f"6,3964,206764307,-;{XID}", None, None, "boot_relative"),
        (f"// {XID}", None, None, "unknown"),
    ],
)  # fmt: skip
def test_envelope(line: str, host: str | None, time: str | None, quality: str) -> None:
    row = one_of(line)
    assert row["host"] == host
    assert row["time_ns"] == (ns(time) if time else None)
    assert row["time_quality"] == quality
    assert row["gpu_key"] == "0000:5d:00"
    assert row["message"] == XID


def test_seconds_since_boot_are_exact() -> None:
    assert one_of(f"[2397166.983093] {XID}")["boot_offset_ns"] == 2397166983093000
    assert one_of(f"6,3964,206764307,-;{XID}")["boot_offset_ns"] == 206764307000


def test_the_clock_told_at_boot_places_later_lines() -> None:
    clock = "rtc_cmos 00:01: setting system clock to 2024-05-01T10:00:00 UTC"
    row = one_of(f"[    1.500000] {clock} (1714557600)", f"[   11.500000] {XID}")
    assert row["time_ns"] == ns("2024-05-01T10:00:10")
    assert row["time_quality"] == "boot_relative"


def test_naive_time_is_local_to_the_zone() -> None:
    batches = batches_of(
        f"[Wed Jul 23 16:00:00 2025] {XID}", zone="Europe/Berlin", assumed=False
    )
    (row,) = rows_of(batches)
    assert (row["time_ns"], row["time_quality"]) == (
        ns("2025-07-23T14:00:00"),
        "exact",
    )
    assert any(batch.zone_used for batch in batches)


def test_new_year_lies_where_the_month_falls() -> None:
    # written 2025-03-15:  Dec 30, Dec 31 | Jan 1, (Dec 31 late), Jan 2
    days = ("Dec 30", "Dec 31", "Jan  1", "Dec 31", "Jan  2")
    rows = rows_of(batches_of(*(f"{day} 10:00:00 n1 kernel: {XID}" for day in days)))
    years = [datetime.fromtimestamp(r["time_ns"] / 1e9, UTC).year for r in rows]
    assert years == [2024, 2024, 2025, 2024, 2025]


def test_nodes_of_one_file_turn_the_year_by_themselves() -> None:
    lines = [
        f"{day} 10:00:00 {host} kernel: {XID}"
        for host in ("n1", "n2")
        for day in ("Dec 31", "Jan  2")
    ]
    rows = rows_of(batches_of(*lines))
    years = [datetime.fromtimestamp(r["time_ns"] / 1e9, UTC).year for r in rows]
    assert years == [2024, 2025, 2024, 2025]


def test_29_february_is_in_a_leap_year() -> None:
    line = f"Feb 29 10:00:00 n1 kernel: {XID}"
    assert one_of(line)["time_ns"] == ns("2024-02-29T10:00:00")
    assert one_of(line, modified="2023-05-01T00:00:00")["time_ns"] == ns(
        "2020-02-29T10:00:00"
    )


def test_a_given_year_is_that_of_the_first_line() -> None:
    lines = [f"{day} 10:00:00 n1 kernel: {XID}" for day in ("Dec 31", "Jan  2")]
    first, second = rows_of(batches_of(*lines, year=2019))
    assert first["time_ns"] == ns("2019-12-31T10:00:00")
    assert second["time_ns"] == ns("2020-01-02T10:00:00")
    assert second["time_quality"] == "zone_assumed"


def test_blocks_do_not_change_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        f"{month} {day:2} 10:00:00 n1 kernel: {XID if day % 3 == 0 else 'usb 1-1: new'}"
        for month in ("Nov", "Dec", "Jan")
        for day in range(1, 29)
    ]
    whole = rows_of(batches_of(*lines))

    small = partial(_lines_frames.line_frames, size=100)
    monkeypatch.setattr(kernel_log, "line_frames", small)
    in_pieces = batches_of(*lines)
    assert rows_of(in_pieces) == whole
    assert sum(batch.records for batch in in_pieces) == len(lines)
