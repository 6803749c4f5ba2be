"""amd-smi: CSV and JSON of several ages, with times and without."""

import io
import json
from collections.abc import Iterable
from typing import Any

import polars as pl
import pytest

from ingest.sources import Batch, Head, Source, amd_smi, rocm_smi
from ingest.tables import PowerSamples
from tests.ingest.readings import MARK, held, reading, records, refused

WATCHED = (
    "timestamp,gpu,gfx_activity,umc_activity,mm_activity,vcn_activity,socket_power,"
    "gfx_voltage,throttle_status,power_management,gfx_0_clk,mem_0_clk,edge,hotspot,mem"
)


def read(source: Source, text: str, **told: Any) -> list[Batch]:
    return held(source.read(io.BytesIO(text.encode()), reading(**told)))


def samples(batches: Iterable[Batch]) -> list[dict[str, Any]]:
    frames = [b.rows[PowerSamples] for b in batches if PowerSamples in b.rows]
    return pl.concat(frames, how="diagonal").to_dicts() if frames else []


def csv(*lines: str, **told: Any) -> list[Batch]:
    return read(amd_smi.SOURCE, "".join(f"{line}\n" for line in lines), **told)


def documents(source: Source, *values: object, **told: Any) -> list[Batch]:
    text = "".join(json.dumps(value, indent=2) + "\n" for value in values)
    assert source.recognizes(Head("any", text.encode()[:65_536]))
    return read(source, text, **told)


def test_a_watched_log() -> None:
    lists = "\"['N/A', 'N/A']\""
    batches = csv(
        WATCHED,
        f"1772939616,0,95,80,N/A,{lists},350,N/A,N/A,ENABLED,1980,901,38,72,65",
        f"1772939617,1,95,80,N/A,{lists},N/A,N/A,N/A,ENABLED,N/A,901,38,N/A,N/A",
        WATCHED,
        f"1772939618,0,95,80,N/A,{lists},351,N/A,N/A,ENABLED,1980,901,38,72,65",
    )
    first, second, third = samples(batches)
    assert first["time_ns"] == 1_772_939_616_000_000_000
    assert (first["gpu_uuid"], first["time_quality"]) == (f"index:0 of {MARK}", "exact")
    assert (first["power_average_w"], first["sm_clock_mhz"]) == (350.0, 1980.0)
    assert (first["temperature_c"], first["memory_temperature_c"]) == (72.0, 65.0)
    assert first["utilization_ratio"] == pytest.approx(0.95)
    assert (second["power_average_w"], second["temperature_c"]) == (None, 38.0)
    assert third["power_average_w"] == 351.0
    assert (records(batches), refused(batches)) == (3, [])


@pytest.mark.parametrize("number", ["4294967295", "65535", "N/A"])
def test_numbers_that_stand_for_none(number: str) -> None:
    (row,) = samples(
        csv("timestamp,gpu,socket_power,hotspot", f"1772939616,0,{number},5")
    )
    assert (row["power_average_w"], row["temperature_c"]) == (None, 5.0)


def test_energy_is_in_joules() -> None:
    header = "gpu,socket_power,power_management,total_energy_consumption"
    (row,) = samples(csv(header, "0,142,ENABLED,61234.567", modified_ns=9))
    assert (row["power_average_w"], row["energy_mj"]) == (142.0, 61_234_567)
    assert (row["time_ns"], row["time_quality"]) == (9, "file_time")


def test_looks_without_a_time_are_all_refused() -> None:
    batches = csv("gpu,socket_power", "0,142", "1,143", "0,144")
    assert refused(batches) == [
        (f"line {line}", "time_ns|required") for line in (2, 3, 4)
    ]
    hints = {one.hint for batch in batches for one in batch.refused}
    assert "amd-smi metric -w 1" in str(hints.pop())


def test_damaged_lines() -> None:
    batches = csv(
        "0,1",
        "timestamp,gpu,socket_power",
        "1772939616,0,142",
        "1772939616,0",
        "1772939616,0,many",
        "13585625.18,0,142",
    )
    assert len(samples(batches)) == 1
    assert refused(batches) == [
        ("line 1", "before_header"),
        ("line 4", "cell_count"),
        ("line 5", "power_average_w|value"),
        ("line 6", "time_ns|value"),
    ]


def gpu(number: int, watts: object, **more: object) -> dict[str, object]:
    return {"gpu": number, "power": {"socket_power": watts}} | more


@pytest.mark.parametrize("watts", [{"value": 142, "unit": "W"}, 142, "142 W", "142"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_json_of_any_age(watts: object, wrapped: bool) -> None:
    gpus = [gpu(1, watts, timestamp=1_772_939_616)]
    batches = documents(amd_smi.SOURCE, {"gpu_data": gpus} if wrapped else gpus)
    (row,) = samples(batches)
    assert (row["power_average_w"], row["gpu_uuid"]) == (142.0, f"index:1 of {MARK}")
    assert row["time_ns"] == 1_772_939_616_000_000_000


def test_fields_of_json() -> None:
    more = {
        "timestamp": 1_772_939_616.943,
        "usage": {"gfx_activity": {"value": 73, "unit": "%"}, "vcn_activity": ["N/A"]},
        "temperature": {"edge": {"value": 45, "unit": "C"}, "hotspot": "N/A"},
        "clock": {"gfx_0": {"clk": {"value": 132, "unit": "MHz"}}},
        "energy": {"total_energy_consumption": {"value": 1234.5, "unit": "J"}},
        "limit": {"socket_power": {"value": 750, "unit": "W"}},
    }
    (row,) = samples(documents(amd_smi.SOURCE, [gpu(0, "N/A", **more)]))
    assert row["time_ns"] == 1_772_939_616_943_000_000
    assert (row["power_average_w"], row["temperature_c"]) == (None, 45.0)
    assert (row["utilization_ratio"], row["sm_clock_mhz"]) == (0.73, 132.0)
    assert row["energy_mj"] == 1_234_500


def test_documents_follow_each_other() -> None:
    looks = [
        [gpu(n, at, timestamp=1_772_939_616 + at) for n in (0, 1)] for at in (1, 2)
    ]
    batches = documents(amd_smi.SOURCE, *looks)
    assert [row["power_average_w"] for row in samples(batches)] == [1.0, 1.0, 2.0, 2.0]
    assert records(batches) == 4


def test_a_warning_and_a_document_that_is_cut() -> None:
    whole = json.dumps([gpu(0, 5, timestamp=1_772_939_616)], indent=2)
    text = f"WARNING: not in the render group\n{whole}\n{whole[:-30]}\n{whole}\n"
    batches = read(amd_smi.SOURCE, text)
    assert [row["power_average_w"] for row in samples(batches)] == [5.0, 5.0]
    assert [rule for _, rule in refused(batches)] == ["json"]


@pytest.mark.parametrize("text", ["{", '{"card0": [', '{"card0": {}} x', "[1, 2", "}"])
def test_damaged_json(text: str) -> None:
    for source in (rocm_smi.SOURCE, amd_smi.SOURCE):
        assert samples(read(source, text)) == []
