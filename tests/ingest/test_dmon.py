"""dmon of nvidia-smi and of dcgmi, and nvidia-smi stats: columns, stamps, no stamps."""

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
    dcgmi_dmon,
    nvidia_smi_dmon,
    nvidia_smi_stats,
)
from ingest.sources._lines_frames import line_frames
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
dcgmi = partial(read, dcgmi_dmon.SOURCE)
stats = partial(read, nvidia_smi_stats.SOURCE)


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
    assert [row["gpu_uuid"] for row in found] == ["index:0", "index:1", "index:0"]
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
    monkeypatch.setattr(nvidia_smi_dmon, "line_frames", partial(line_frames, size=size))
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


ENTITY = "#Entity   POWER             TOTEC                 TMPTR       SMCLK"
ENTITY_UNITS = "ID        W                 mJ                    C"
FULL = "GPU 0     120.500           1234567               30          1410"
HOLED = "GPU 1                       1234568               31          N/A"
MIG = "GPU-I 3   N/A               N/A                   N/A         N/A"


def test_dcgmi_reads_columns_by_their_place() -> None:
    batches = dcgmi(ENTITY, ENTITY_UNITS, FULL, HOLED, MIG, modified_ns=5)
    full, holed = samples(batches)
    assert (full["power_average_w"], full["energy_mj"]) == (120.5, 1_234_567)
    assert (full["temperature_c"], full["sm_clock_mhz"]) == (30.0, 1410.0)
    assert (holed["power_average_w"], holed["energy_mj"]) == (None, 1_234_568)
    assert (holed["temperature_c"], holed["sm_clock_mhz"]) == (31.0, None)
    assert [row["gpu_uuid"] for row in (full, holed)] == ["index:0", "index:1"]
    assert {row["time_quality"] for row in (full, holed)} == {"file_time"}
    assert (records(batches), refused(batches)) == (3, [])


@pytest.mark.parametrize(
    ("prefix", "time_ns", "quality"),
    [
        ("1777708107.135", 1_777_708_107_135_000_000, "exact"),
        ("1777708107", 1_777_708_107_000_000_000, "exact"),
        ("1777708107135", 1_777_708_107_135_000_000, "exact"),
        ("1777708107135246801", 1_777_708_107_135_246_801, "exact"),
        ("[2024-01-04 13:54:35]", NOON_NS, "zone_assumed"),
        ("2024-01-04T13:54:35.5Z", NOON_NS + 5 * 10**8, "exact"),
        ("2024-01-04T14:54:35+01:00", NOON_NS, "exact"),
        ("2024/01/04 13:54:35", NOON_NS, "zone_assumed"),
    ],
)
def test_what_a_wrapper_puts_before_a_line(
    prefix: str, time_ns: int, quality: str
) -> None:
    batches = dcgmi(
        f"{prefix} {ENTITY}", f"{prefix} {ENTITY_UNITS}", f"{prefix} {HOLED}"
    )
    (row,) = samples(batches)
    assert (row["time_ns"], row["time_quality"]) == (time_ns, quality)
    assert row["energy_mj"] == 1_234_568
    assert refused(batches) == []


def test_looks_of_dcgmi_without_a_time_are_refused() -> None:
    batches = dcgmi(ENTITY, ENTITY_UNITS, FULL, FULL, ENTITY, ENTITY_UNITS, FULL)
    assert [rule for _, rule in refused(batches)] == ["time_ns|required"] * 3
    assert samples(batches) == []


def test_lines_of_dcgmi_that_are_no_sample() -> None:
    line = f"1777708107.1 {FULL}"
    batches = dcgmi(
        ENTITY,
        ENTITY_UNITS,
        line,
        "Error setting watches. Result: -33: This request is serviced by a module",
        line.replace("120.500", "12x"),
        line.replace("1777708107.1", "13585625.187"),
        f"{line} 5",
        "",
        "dmon was stopped do to receiving a signal",
    )
    assert len(samples(batches)) == 1
    assert refused(batches) == [
        ("line 5", "power_average_w|value"),
        ("line 6", "time_ns|value"),
        ("line 7", "cell_count"),
        ("line 4", "cell_count"),
    ] or refused(batches) == [
        ("line 4", "cell_count"),
        ("line 5", "power_average_w|value"),
        ("line 6", "time_ns|value"),
        ("line 7", "cell_count"),
    ]


def test_counters_and_reasons_of_dcgmi() -> None:
    batches = dcgmi(
        "#Entity   POWINST    PMLMT     DVCCTR    PVIOL     TVIOL     GPUTL     MMTMP",
        "ID        W          W                                                 C",
        "GPU 0     644.250    700.000   4         410000000 12        99        61",
    )
    (row,) = samples(batches)
    assert (row["power_instant_w"], row["power_limit_w"]) == (644.25, 700.0)
    assert (row["throttle_reasons"], row["throttle_power_ns"]) == (4, 410_000_000)
    assert row["throttle_thermal_ns"] == 12
    assert row["utilization_ratio"] == pytest.approx(0.99)
    assert row["memory_temperature_c"] == 61.0


def test_dcgmi_of_old_with_a_blank_in_its_header() -> None:
    batches = dcgmi("# Entity  POWER  TOTEC", "      Id", "    GPU 0  120.5  1234567")
    (row,) = samples(batches)
    assert (row["power_average_w"], row["energy_mj"]) == (120.5, 1_234_567)
    batches = dcgmi("# Entity  POWER  TOTEC", "      Id", "    GPU 0         1234567")
    assert refused(batches) == [("line 3", "cell_count")]


def test_what_dcgmi_does_not_measure_is_not_claimed() -> None:
    assert not dcgmi_dmon.recognizes(Head("any", b"#Entity   GRACT   DRAMA\nID\n"))


def test_each_metric_of_stats_is_a_series() -> None:
    batches = stats(
        "0, pwrDraw , 1419014532441093, 43",
        "0, temp , 1419014532441093, 51",
        "0, gpuUtil, 1419014532441094, 57",
        "1, violPwr, 1419014532441094, 410000000",
        "1, memClk, 1419014532441095, 2619",
    )
    first, second, third, fourth = samples(batches)
    assert first["time_ns"] == second["time_ns"] == 1_419_014_532_441_093_000
    assert (first["power_average_w"], first["temperature_c"]) == (43.0, None)
    assert second["temperature_c"] == 51.0
    assert third["utilization_ratio"] == pytest.approx(0.57)
    assert fourth["gpu_uuid"] == "index:1"
    assert fourth["throttle_power_ns"] == 410_000_000
    assert [row["series"] for row in (first, second, third, fourth)] == [
        "pwrDraw",
        "temp",
        "gpuUtil",
        "violPwr",
    ]
    assert refused(batches) == []


def test_lines_of_stats_that_are_no_sample() -> None:
    batches = stats(
        "0, pwrDraw , 1419014532441093, 43",
        "GPU is lost",
        "0, pwrDraw , 14190145324410, 43",
        "0, pwrDraw , 1419014532441095, many",
    )
    assert refused(batches) == [
        ("line 2", "metric_line"),
        ("line 3", "time_ns|value"),
        ("line 4", "power_average_w|value"),
    ]
