"""Tables of power: three encodings, the same rows; floats as they are written."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import UnreadableFileError
from ingest.sources import SOURCES, Head
from ingest.tables import PowerSamples
from tests.examples import examples
from tests.ingest.encoded import ENCODINGS, encode
from tests.ingest.power_tables import TIME, WATTS, read, sample
from tests.ingest.readings import held, repairs, rows


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_required_columns_are_enough(encoding: str) -> None:
    batches = held(read(encode([sample()], encoding)))
    (row,) = rows(batches, PowerSamples)
    assert {name: row[name] for name in sample()} == sample()
    assert (row["cluster"], row["level"]) == ("pod", "gpu_board")
    assert row["time_quality"] == "exact"
    assert repairs(batches) == 0


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_column_is_taken(encoding: str) -> None:
    full = sample(
        cluster="hall-2",
        host="node-a",
        level="module",
        time_quality="resampled",
        power_instant_w=640.125,
        power_limit_w=700.0,
        energy_mj=2**53 + 1,
        temperature_c=-1.5,
        memory_temperature_c=1e-3,
        sm_clock_mhz=1_755.0,
        throttle_reasons=4,
        throttle_power_ns=5,
        throttle_thermal_ns=6,
        last_xid=79,
        utilization_ratio=0.25,
        series="power",
        series_count=2,
    )
    (row,) = rows(held(read(encode([full], encoding))), PowerSamples)
    assert {name: row[name] for name in full} == full


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_empty_cells_get_what_a_missing_column_gets(encoding: str) -> None:
    told = sample(cluster="x", level="module", time_quality="exact")
    empty = told | {"cluster": None, "level": None, "time_quality": None, WATTS: None}
    found = rows(read(encode([told, empty], encoding)), PowerSamples)
    assert [row["cluster"] for row in found] == ["x", "pod"]
    assert [row["level"] for row in found] == ["module", "gpu_board"]
    assert [row[WATTS] for row in found] == [612.4, None]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_other_columns_are_passed_over_and_count_as_repairs(encoding: str) -> None:
    batches = read(encode([sample(fan="x", slot=1)], encoding))
    assert len(rows(batches, PowerSamples)) == 1
    assert repairs(batches) == 2


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("missing", ["gpu_uuid", "time_ns", WATTS])
def test_a_missing_column_is_named(encoding: str, missing: str) -> None:
    record = sample(note="x")
    del record[missing]
    told = f"'{missing}'.*gpu_uuid, time_ns, and one of power_average_w, power_inst"
    with pytest.raises(UnreadableFileError, match=told):
        read(encode([record], encoding))


FINITE = st.floats(0, allow_nan=False, allow_infinity=False) | st.integers(0, 2**53)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.none() | FINITE, min_size=1), st.sampled_from(["csv", "jsonl"]))
def test_floats_come_back_as_they_were(values: list[Any], encoding: str) -> None:
    header = f"gpu_uuid,time_ns,{WATTS}\n"
    data = encode([sample() | {WATTS: value} for value in values], "jsonl")
    if encoding == "csv":
        cells = ["" if value is None else repr(value) for value in values]
        data = (header + "".join(f"GPU-a,{TIME},{one}\n" for one in cells)).encode()
    found = rows(read(data), PowerSamples)
    assert [row[WATTS] for row in found] == values


@settings(max_examples=examples(100), deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_stop_the_reader(data: bytes) -> None:
    read(f"gpu_uuid,time_ns,{WATTS}\n".encode() + data)
    assert rows(read(encode([sample()], "jsonl") + data), PowerSamples)


def test_the_sample_is_claimed_once(project: Path) -> None:
    for path in sorted((project / "sample_traces/formats/power-table").iterdir()):
        told = Head(path.name, path.read_bytes())
        claims = [source.name for source in SOURCES if source.recognizes(told)]
        assert claims == ["power-table"]
