"""Notices that the kernel repeats: one row for a minute, whatever the blocks."""

import json
from functools import partial
from typing import Any

import pytest

from ingest.sources import _lines, journald, kernel_log
from ingest.tables import Failures
from tests.ingest.readings import held, read_lines, records, rows

AER = "pcieport 0000:00:01.0: PCIe Bus Error: severity=Corrected, type=Physical Layer"
FATAL = "nvidia 0000:5d:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=x"


def rows_of(*lines: str) -> list[dict[str, Any]]:
    batches = held(read_lines(kernel_log.SOURCE, *lines))
    assert records(batches) == len(lines)
    return rows(batches, Failures)


def stamped(minute: int, host: str, message: str) -> list[str]:
    stamp = f"2026-03-01T10:{minute:02}"
    return [f"{stamp}:{n:02}.5Z {host} kernel: [{n:5}.1] {message}" for n in range(60)]


#: Two nodes, two minutes, and 60 errors that are none of the notices.
STORM = [
    *stamped(1, "n1", AER),
    *stamped(1, "n2", AER),
    *stamped(1, "n2", FATAL),
    *stamped(2, "n1", AER),
]


def test_equal_notices_of_a_minute_are_one_row() -> None:
    found = rows_of(*STORM)
    notices = [r for r in found if r["severity"] == "info"]
    assert [(r["host"], r["place"], r["line_count"]) for r in notices] == [
        ("n1", "line 1", 60),
        ("n2", "line 61", 60),
        ("n1", "line 181", 60),
    ]
    assert len(found) == 3 + 60


def test_other_words_are_another_notice() -> None:
    lines = [f"[   10.000001] {AER}", f"[   11.000001] {AER}, (Receiver ID)"]
    assert [r["line_count"] for r in rows_of(*lines)] == [1, 1]


@pytest.mark.parametrize("line", ["[{0:5}.000001] {1}", "4,{0},{0}000000,-;{1}"])
def test_minutes_since_boot(line: str) -> None:
    # 50 to 59 s are in one minute since boot, 60 to 69 s in the next
    lines = [line.format(second, AER) for second in range(50, 70)]
    assert [r["line_count"] for r in rows_of(*lines)] == [10, 10]


def test_lines_without_a_time_stay_apart() -> None:
    assert [r["line_count"] for r in rows_of(AER, AER)] == [1, 1]


def test_blocks_do_not_change_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rows_of(*STORM)
    small = partial(_lines.blocks, size=700)
    monkeypatch.setattr(kernel_log, "blocks", small)
    assert rows_of(*STORM) == whole


def test_the_journal() -> None:
    lines = [
        json.dumps(
            {
                "__REALTIME_TIMESTAMP": str(1_772_442_000_000_000 + second * 1_000_000),
                "_HOSTNAME": "n1",
                "_TRANSPORT": "kernel",
                "MESSAGE": AER,
            }
        )
        for second in range(90)
    ]
    found = rows(held(read_lines(journald.SOURCE, *lines)), Failures)
    assert [r["line_count"] for r in found] == [60, 30]
