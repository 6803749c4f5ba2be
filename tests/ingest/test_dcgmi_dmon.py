"""dcgmi dmon and nvidia-smi stats: columns by their place, times, series."""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import polars as pl
import pytest

from ingest.sources import (
    Batch,
    Head,
    Source,
    dcgmi_dmon,
    nvidia_smi_stats,
)
from ingest.tables import PowerSamples
from tests.ingest.readings import MARK, held, read_lines, records, refused

NOON_NS = int(datetime(2024, 1, 4, 13, 54, 35, tzinfo=UTC).timestamp()) * 10**9


def samples(batches: Iterable[Batch]) -> list[dict[str, Any]]:
    frames = [b.rows[PowerSamples] for b in batches if PowerSamples in b.rows]
    return pl.concat(frames, how="diagonal").to_dicts() if frames else []


def read(source: Source, *lines: str, **told: Any) -> list[Batch]:
    return held(read_lines(source, *lines, **told))


dcgmi = partial(read, dcgmi_dmon.SOURCE)
stats = partial(read, nvidia_smi_stats.SOURCE)

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
    assert [row["gpu_uuid"] for row in (full, holed)] == [
        f"index:{number} of {MARK}" for number in (0, 1)
    ]
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
    assert sorted(refused(batches)) == [
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
    assert fourth["gpu_uuid"] == f"index:1 of {MARK}"
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
