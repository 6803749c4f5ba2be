"""Zeus and CodeCarbon: energy of windows, which is no sample of power."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ingest.sources import Batch, Head, Source, codecarbon, zeus
from ingest.tables import EnergyWindows, PowerSamples
from ingest.times import parse_zone
from tests.ingest.readings import MARK, held, read_lines, refused, rows

NOON_NS = int(datetime(2024, 2, 15, 8, 36, 1, tzinfo=UTC).timestamp()) * 10**9

HEADER = "start_time,window_name,elapsed_time,gpu0_energy,gpu3_energy"


def read(source: Source, *lines: str, **told: Any) -> list[Batch]:
    return held(read_lines(source, *lines, **told))


windows_of = partial(read, zeus.SOURCE)


def windows(*lines: str, **told: Any) -> list[dict[str, Any]]:
    return rows(windows_of(*lines, **told), EnergyWindows)


def test_a_window_is_no_sample_of_power() -> None:
    batches = windows_of(HEADER, "1773114089.943,step_1,0.5,100.25,200.5")
    first, second = rows(batches, EnergyWindows)
    assert first["start_ns"] == 1_773_114_089_943_000_000
    assert first["end_ns"] - first["start_ns"] == 500_000_000
    assert (first["gpu_uuid"], first["energy_mj"]) == (f"index:0 of {MARK}", 100_250)
    assert (second["gpu_uuid"], second["energy_mj"]) == (f"index:3 of {MARK}", 200_500)
    assert {first["window"], second["window"]} == {"step_1"}
    assert all(PowerSamples not in batch.rows for batch in batches)


@pytest.mark.parametrize(
    ("length", "expected_ns"),
    [
        ("33.27751154080033", 33_277_511_541),
        ("33.2775115404", 33_277_511_540),
        ("0.9999999995", 1_000_000_000),
        ("9.5e-05", 95_000),
        ("12", 12_000_000_000),
    ],
)
def test_lengths_as_python_prints_them(length: str, expected_ns: int) -> None:
    row = windows(HEADER, f"1773114089.943,w,{length},1.0,1.0")[0]
    assert row["end_ns"] - row["start_ns"] == expected_ns


def test_a_name_may_hold_commas() -> None:
    row = windows(HEADER, "1773114089.943,step 1, fwd, bwd,0.5,1.0,2.0")[0]
    assert row["window"] == "step 1, fwd, bwd"
    assert (row["energy_mj"], row["end_ns"] - row["start_ns"]) == (1_000, 500_000_000)


def test_a_monotonic_clock_has_no_date() -> None:
    row = windows(HEADER, "13585625.187147852,step_1,9.2,2053.6,1.0")[0]
    assert (row["start_ns"], row["end_ns"]) == (None, None)
    assert row["boot_offset_ns"] == 13_585_625_187_147_852
    assert row["duration_ns"] == 9_200_000_000
    assert row["time_quality"] == "boot_relative"


def test_a_start_that_is_no_number_is_refused() -> None:
    batches = windows_of(HEADER, "soon,step_1,9.2,2053.6,1.0")
    assert refused(batches) == [("line 2", "start_ns|value")]


def test_another_header_has_other_gpus() -> None:
    found = windows(
        "start_time,window_name,elapsed_time,gpu0_energy",
        "1773114089,a,1,5.0",
        HEADER,
        "1773114090,b,1,6.0,7.0",
    )
    assert [(row["window"], row["energy_mj"]) for row in found] == [
        ("a", 5_000),
        ("b", 6_000),
        ("b", 7_000),
    ]


def test_damaged_windows() -> None:
    batches = windows_of(
        HEADER,
        "1773114089,a,1,5.0",
        "1773114089,a,-1,5.0,6.0",
        "1773114089,a,1,-5.0,6.0",
        "1773114089,a,1,5.0,nan",
    )
    assert refused(batches) == [
        ("line 2", "cell_count"),
        ("line 3", "duration_ns|value"),
        ("line 4", "energy_mj|value"),
        ("line 5", "energy_mj|value"),
    ]


def test_tables_of_other_tools_are_not_of_zeus() -> None:
    summary = b"dataset,network,batch_size,optimizer,power_limit,time_per_epoch\n"
    assert not zeus.recognizes(Head("any", summary))


def test_published_windows_have_a_monotonic_clock(shared: Path) -> None:
    folder = shared / "data/power/ml-energy+zeus/tests/profile_data"
    for path in folder.glob("*.csv"):
        text = path.read_text()
        assert zeus.recognizes(Head(path.name, text.encode()))
        batches = windows_of(*text.splitlines())
        gpus = text.splitlines()[0].count("gpu")
        found = rows(batches, EnergyWindows)
        assert len(found) == gpus * (len(text.splitlines()) - 1)
        assert {row["time_quality"] for row in found} == {"boot_relative"}
        assert refused(batches) == []


EMISSIONS = (
    "timestamp,project_name,run_id,duration,emissions,cpu_energy,gpu_energy,"
    "ram_energy,energy_consumed,cpu_model"
)


def emitted(*lines: str, **told: Any) -> list[dict[str, Any]]:
    batches = read(codecarbon.SOURCE, EMISSIONS, *lines, **told)
    assert refused(batches) == []
    return rows(batches, EnergyWindows)


def test_energies_of_codecarbon_are_windows_in_kwh() -> None:
    line = '2024-02-15T08:36:01,p,r,600.5,0.1,0.025,0.5,1e-3,0.526,"A, 96 cores"'
    found = emitted(line)
    assert {row["level"]: row["energy_mj"] for row in found} == {
        "cpus": 90_000_000,
        "gpus": 1_800_000_000,
        "memory": 3_600_000,
        "tracked": 1_893_600_000,
    }
    assert {row["gpu_uuid"] for row in found} == {f"node of {MARK}"}
    assert {row["window"] for row in found} == {"r"}
    assert {row["end_ns"] for row in found} == {NOON_NS}
    assert {row["start_ns"] for row in found} == {NOON_NS - 600_500_000_000}
    assert {row["time_quality"] for row in found} == {"zone_assumed"}


def test_an_energy_of_zero_was_not_measured() -> None:
    found = emitted("2024-02-15T08:36:01,p,,10,0.1,0.025,0.0,,0.025,")
    assert [row["level"] for row in found] == ["cpus", "tracked"]
    assert {row["window"] for row in found} == {"p"}


def test_codecarbon_has_local_time() -> None:
    told = {"zone": parse_zone("+01:00"), "zone_basis": "option"}
    row = emitted("2024-02-15T08:36:01,p,r,10,0.1,0.025,0.5,0.1,0.7,", **told)[0]
    assert (row["end_ns"], row["time_quality"]) == (NOON_NS - 3_600 * 10**9, "exact")


def test_damaged_emissions() -> None:
    batches = read(
        codecarbon.SOURCE,
        EMISSIONS,
        "2024-02-15T08:36:01,p,r,10,0.1,many,0.5,0.1,0.7,",
        "2024-02-15T08:36:01,p,r,10,0.1,0.1,-0.5,0.1,0.7,",
        "2024-02-15T08:36:01,p,r,-10,0.1,0.1,0.5,0.1,0.7,",
        "yesterday,p,r,10,0.1,0.1,0.5,0.1,0.7,",
        "2024-02-15T08:36:01,p,r,10",
        "2024-02-15T08:36:01,p,r,10,0.1,nan,0.5,0.1,0.7,",
    )
    assert refused(batches) == [
        ("line 2", "energy_mj|value"),
        ("line 3", "energy_mj|value"),
        ("line 4", "duration_ns|value"),
        ("line 5", "end_ns|value"),
        ("line 6", "cell_count"),
        ("line 7", "energy_mj|value"),
    ]


def test_headers_of_codecarbon() -> None:
    assert codecarbon.recognizes(Head("any", f"{EMISSIONS}\n".encode()))
    other = EMISSIONS.replace("energy_consumed", "energy")
    assert not codecarbon.recognizes(Head("any", f"{other}\n".encode()))
