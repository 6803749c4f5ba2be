"""Kernel logs: times of every envelope, and the years that syslog leaves out."""

from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from ingest.sources import _lines, kernel_log
from ingest.sources._source import Batch
from ingest.tables import Failures
from ingest.times import parse_zone
from tests.ingest.readings import held, read_lines, refused, rows

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
        f"[Wed Jul 23 16:00:00 2025] {XID}",
        zone="Europe/Berlin",
        assumed=False,
        modified="2025-07-24T00:00:00",
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


@pytest.mark.parametrize(
    ("line", "host", "time"),
    [
        (f"kern  :warn  : [Sun Feb 23 16:24:18 2025] {XID}",
         None, "2025-02-23T16:24:18"),
        (f"[Sun Dec 1 14:54:40 2024] n1 kernel: {XID}", "n1", "2024-12-01T14:54:40"),
        (f"Jan 21 04:41:44.285 n1 kernel: {XID}", "n1", "2025-01-21T04:41:44.285"),
        (f"1737434504.285060 n1 kernel: {XID}", "n1", "2025-01-21T04:41:44.285060"),
        (f"Tue 2025-01-21 04:41:44 UTC n1 kernel: {XID}", "n1", "2025-01-21T04:41:44"),
        (f"Tue 2025-01-21 04:41:44 CET n1 kernel: {XID}", "n1", "2025-01-21T04:41:44"),
        (f"2025-01-21T04:41:44+0000 GPU n1 kernel: {XID}", "n1", "2025-01-21T04:41:44"),
    ],
)  # fmt: skip
def test_further_envelopes(line: str, host: str | None, time: str) -> None:
    row = one_of(line)
    assert (row["host"], row["time_ns"]) == (host, ns(time))


def test_a_stamp_counted_since_boot_may_lie_after_the_file() -> None:
    told = {"zone": "Europe/Berlin", "assumed": False}
    late = f"[Sat Mar 15 14:00:00 2025] {XID}"
    assert one_of(late, **told)["time_quality"] == "boot_relative"
    early = f"[Sat Mar 15 13:00:00 2025] {XID}"
    assert one_of(early, **told)["time_quality"] == "exact"
    # written at 12:00 UTC; where the zone is assumed, 14 hours may be its difference
    reach = f"[Sun Mar 16 02:00:00 2025] {XID}"
    assert one_of(reach)["time_quality"] == "zone_assumed"
    beyond = f"[Sun Mar 16 02:00:01 2025] {XID}"
    assert one_of(beyond)["time_quality"] == "boot_relative"


@pytest.mark.parametrize(
    ("line", "zone"),
    [
        ("Mar 30 02:30:00 n1 kernel: ", "Europe/Berlin"),
        ("[Sun Mar  9 02:30:00 2025] ", "America/Denver"),
        ("Nov 31 10:00:00 n1 kernel: ", "UTC"),
        ("2025-01-21T25:00:00Z n1 kernel: ", "UTC"),
    ],
)
def test_a_time_that_there_is_not_is_refused(line: str, zone: str) -> None:
    batches = batches_of(line + XID, zone=zone, modified="2025-12-01T00:00:00")
    assert refused(batches) == [("line 1", "time_ns|no_such_time")]
    assert not rows_of(batches)


def test_a_time_that_there_is_twice_is_the_first() -> None:
    row = one_of(
        f"Oct 26 02:30:00 n1 kernel: {XID}",
        zone="Europe/Berlin",
        modified="2025-12-01T00:00:00",
    )
    assert row["time_ns"] == ns("2025-10-26T00:30:00")


def test_the_clock_that_the_kernel_sets_tells_the_year() -> None:
    # copied in 2025, written in 2019 and 2020
    clock = "rtc_cmos 00:01: setting system clock to"
    lines = [
        f"Nov  3 10:00:00 n1 kernel: {XID}",
        f"Dec 31 23:30:00 n1 kernel: {clock} 2020-01-01T04:30:00 UTC (1577853000)",
        f"Jan  2 10:00:00 n1 kernel: {XID}",
        f"Jan  2 10:00:00 n2 kernel: {XID}",
    ]
    found = rows_of(batches_of(*lines))
    years = [datetime.fromtimestamp(r["time_ns"] / 1e9, UTC).year for r in found]
    assert years == [2019, 2020, 2025]
    assert {r["time_quality"] for r in found} == {"year_inferred"}


def test_rotated_files_are_dated_each_by_when_it_was_written() -> None:
    # syslog.1 ends on 28 December, syslog goes on until 3 January
    first = [f"Dec {day} 10:00:00 n1 kernel: {XID}" for day in (27, 28)]
    second = [f"{day} 10:00:00 n1 kernel: {XID}" for day in ("Dec 31", "Jan  3")]
    found = [
        *rows_of(batches_of(*first, modified="2024-12-28T10:00:00")),
        *rows_of(batches_of(*second, modified="2025-01-03T10:00:00")),
    ]
    days = [datetime.fromtimestamp(r["time_ns"] / 1e9, UTC).date() for r in found]
    assert [f"{day:%Y-%m-%d}" for day in days] == [
        "2024-12-27",
        "2024-12-28",
        "2024-12-31",
        "2025-01-03",
    ]


def test_blocks_do_not_change_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        f"{month} {day:2} 10:00:00 n1 kernel: {XID if day % 3 == 0 else 'usb 1-1: new'}"
        for month in ("Nov", "Dec", "Jan")
        for day in range(1, 29)
    ]
    whole = rows_of(batches_of(*lines))

    small = partial(_lines.blocks, size=100)
    monkeypatch.setattr(kernel_log, "blocks", small)
    in_pieces = batches_of(*lines)
    assert rows_of(in_pieces) == whole
    assert sum(batch.records for batch in in_pieces) == len(lines)


@pytest.mark.parametrize(
    "line",
    [
        "[ ٣٣.٥] ",
        "٣,٣,٣٣,-;",
        "Nov ٣ 10:00:00 n1 kernel: ",
        "Nov 3 ١٠:00:00 n1 kernel: ",
        "٢٠25-01-21T04:41:44Z n1 kernel: ",
    ],
)
def test_digits_of_other_scripts_are_no_digits(line: str) -> None:
    assert one_of(line + XID)["time_ns"] is None
    assert not rows_of(batches_of(line + XID.replace("79", "٧٩")))
    setting = "setting system clock to ٢٠25-01-21 (1577853٠00)"
    assert len(rows_of(batches_of(line + setting, line + XID))) == 1
