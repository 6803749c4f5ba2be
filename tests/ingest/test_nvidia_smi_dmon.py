"""Text of nvidia-smi dmon: columns, stamps, no stamps."""

import io
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ingest.sources import (
    Batch,
    Head,
    Source,
    nvidia_smi_dmon,
)
from ingest.sources._lines_frames import line_frames
from ingest.sources._power import monitor
from ingest.tables import PowerSamples
from ingest.times import parse_zone
from tests.ingest.readings import held, read_lines, reading, records, refused

STAMPED = "#Date       Time        gpu    pwr  gtemp  mtemp     sm   mclk   pclk"
STAMPED_UNITS = "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %    MHz    MHz"
NAMES = "# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk"
UNITS = "# Idx      W      C      C      %      %    MHz    MHz"
NOON_NS = int(datetime(2024, 1, 4, 13, 54, 35, tzinfo=UTC).timestamp()) * 10**9


def samples(batches: Iterable[Batch]) -> list[dict[str, Any]]:
    frames = [b.rows[PowerSamples] for b in batches if PowerSamples in b.rows]
    return pl.concat(frames, how="diagonal").to_dicts() if frames else []


def read(source: Source, *lines: str, **told: Any) -> list[Batch]:
    return held(read_lines(source, *lines, **told))


dmon = partial(read, nvidia_smi_dmon.SOURCE)


@pytest.mark.parametrize("day", ["20240104", "2024/01/04", "2024-01-04"])
def test_dmon_with_date_and_time(day: str) -> None:
    batches = dmon(
        STAMPED,
        STAMPED_UNITS,
        f" {day}   13:54:35      0    239     55     61     93   2619   1980",
        "",
        f" {day}   13:54:36      1    240      -      -      -   2619   1980",
        STAMPED,
        STAMPED_UNITS,
        f" {day}   13:54:37      0    241     55     61     93   2619   1980",
    )
    found = samples(batches)
    assert [row["power_average_w"] for row in found] == [239.0, 240.0, 241.0]
    assert [row["time_ns"] - NOON_NS for row in found] == [0, 10**9, 2 * 10**9]
    assert [row["gpu_uuid"].split()[0] for row in found] == [
        "index:0",
        "index:1",
        "index:0",
    ]
    assert found[1]["temperature_c"] is found[1]["utilization_ratio"] is None
    assert found[0]["utilization_ratio"] == 0.93
    assert found[0]["sm_clock_mhz"] == 1980.0
    assert {row["time_quality"] for row in found} == {"zone_assumed"}
    assert (records(batches), refused(batches)) == (3, [])


def test_dmon_has_local_time() -> None:
    line = " 20240104   13:54:35      0    239     55     61     93   2619   1980"
    told = {"zone": parse_zone("+01:00"), "zone_basis": "option"}
    (row,) = samples(dmon(STAMPED, STAMPED_UNITS, line, **told))
    assert row["time_ns"] == NOON_NS - 3_600 * 10**9
    assert row["time_quality"] == "exact"


def test_every_group_of_columns() -> None:
    names = (
        "#Date Time gpu pwr gtemp mtemp sm mem enc dec jpg ofa mclk pclk pviol tviol"
        " fb bar1 ccpm sbecc dbecc pci rxpci txpci"
    )
    line = (
        "20240104 13:54:35 3 438 55 61 - - - - - - 2619 1980 12 0"
        " 71204 34 0 - - 0 212 98"
    )
    (row,) = samples(dmon(names, line))
    assert (row["power_average_w"], row["sm_clock_mhz"]) == (438.0, 1980.0)
    assert "throttle_power_ns" not in row


def test_dmon_as_csv() -> None:
    (row,) = samples(
        dmon("#gpu, pwr, gtemp, sm", "#Idx, W, C, %", "0, 438, 55, -", modified_ns=7)
    )
    assert (row["power_average_w"], row["time_ns"]) == (438.0, 7)


def test_one_look_has_the_time_of_the_file() -> None:
    batches = dmon(
        NAMES,
        UNITS,
        "    0    438     55     61      -      -   2619   1980",
        "    1    439     56     61      -      -   2619   1980",
        modified_ns=1_234,
    )
    found = samples(batches)
    assert {(row["time_ns"], row["time_quality"]) for row in found} == {
        (1_234, "file_time")
    }
    assert not any(batch.zone_used for batch in batches)


@pytest.mark.parametrize("size", [60, 1 << 20])
def test_looks_without_a_time_are_all_refused(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor, "line_frames", partial(line_frames, size=size))
    line = "    {}    438     55     61      -      -   2619   1980"
    batches = dmon(NAMES, UNITS, *(line.format(gpu) for gpu in (0, 1, 0, 1)))
    assert samples(batches) == []
    rules = [("line 3", "time_ns|required"), ("line 4", "time_ns|required")]
    rules += [("line 5", "time_ns|required"), ("line 6", "time_ns|required")]
    assert (refused(batches), records(batches)) == (rules, 4)
    hints = {one.hint for batch in batches for one in batch.refused}
    assert "dmon -o DT" in str(hints.pop())
    assert not hints


@pytest.mark.parametrize("names", ["#Time gpu pwr", "#Date gpu pwr"])
def test_a_date_or_a_time_alone_is_no_time(names: str) -> None:
    batches = dmon(names, "13:54:35 0 239", "13:54:36 0 239")
    assert [rule for _, rule in refused(batches)] == ["time_ns|required"] * 2


def test_damaged_lines_of_dmon() -> None:
    data = (
        f"0 1 2\n{STAMPED}\n{STAMPED_UNITS}\n"
        " 20240104   13:54:35      0    239     55     61     93   2619   1980\n"
        " 20240104   13:54:36      0    2x9     55     61     93   2619   1980\n"
        " 20240104   25:54:36      0    239     55     61     93   2619   1980\n"
        "Unable to determine the device handle for GPU0: Unknown Error\n"
        " 20240104   13:54:37      0    239     55     61     93   2619   19"
    ).encode()
    batches = held(nvidia_smi_dmon.read(io.BytesIO(data), reading()))
    assert len(samples(batches)) == 1
    assert refused(batches) == [
        ("line 1", "before_header"),
        ("line 5", "power_average_w|value"),
        ("line 6", "time_ns|value"),
        ("line 7", "cell_count"),
        ("line 8", "truncated_line"),
    ]
    assert records(batches) == 6


def test_pmon_is_not_dmon() -> None:
    text = "# gpu         pid   type     sm    mem    enc    dec    command\n"
    assert not nvidia_smi_dmon.recognizes(Head("any", text.encode()))
    assert not nvidia_smi_dmon.recognizes(Head("any", b"# gpu  rxpci  txpci\n"))


CAPTURES = "data/power/utkuozdemir+nvidia_gpu_exporter/internal/captures"


def test_dmon_of_captures(shared: Path) -> None:
    """The first row of each section of dmon is what the capture shows."""
    first = []
    for path in sorted((shared / CAPTURES).glob("*.txt")):
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines):
            if line.startswith("# gpu    pwr"):
                (row,) = samples(dmon(*lines[number : number + 3]))
                first.append((row["power_average_w"], row["temperature_c"]))
    assert len(first) == 10
    assert (631.0, 63.0) in first
    assert (295.0, 37.0) in first
