"""Numbers in tables of power: as they are written, or refused with their place."""

import polars as pl
import pytest

from ingest.errors import UnreadableFileError
from ingest.tables import PowerSamples
from tests.ingest.encoded import encode, parquet
from tests.ingest.power_tables import TIME, WATTS, broken, read, sample
from tests.ingest.readings import refused, rows


@pytest.mark.parametrize("odd", ["", '"quoted"'])
@pytest.mark.parametrize(
    ("text", "watts"),
    [("7", 7.0), ("+.5", 0.5), ("1.", 1.0), ("6.1E2", 610.0), ("0.1", 0.1)],
)
def test_numbers_as_they_are_written(text: str, watts: float, odd: str) -> None:
    data = f"gpu_uuid,time_ns,{WATTS},note\nGPU-a,{TIME},{text},{odd}\n"
    (row,) = rows(read(data.encode()), PowerSamples)
    assert row[WATTS] == watts


@pytest.mark.parametrize(
    "text", ["x", "612.4 W", "1_0", "0x1", "1e", "--1", "[N/A]", "٣", "1;5", "1f"]
)
def test_what_is_no_number_is_refused(text: str) -> None:
    batches = read(encode([sample(), sample() | {WATTS: text}], "csv"))
    assert refused(batches) == [("line 3", f"{WATTS}|number")]
    assert len(rows(batches, PowerSamples)) == 1


@pytest.mark.parametrize("value", ["7", True, [1.0], {}])
def test_what_is_no_number_is_refused_in_json(value: object) -> None:
    batches = read(encode([sample(), sample() | {WATTS: value}], "jsonl"))
    assert refused(batches) == [("line 2", f"{WATTS}|type")]


@pytest.mark.parametrize(
    ("text", "rule"),
    [("nan", "nan"), ("-nan", "nan"), ("inf", "inf"), ("1e999", "inf"), ("-1", "min")],
)
@pytest.mark.parametrize("odd", ["", '"quoted"'])
def test_what_is_not_finite_or_negative_is_refused(
    text: str, rule: str, odd: str
) -> None:
    lines = [f"GPU-a,{TIME},1,", f"GPU-a,{TIME + 1},{text},{odd}"]
    data = "\n".join([f"gpu_uuid,time_ns,{WATTS},note", *lines, ""])
    assert broken(read(data.encode())) == [("line 3", f"{WATTS}|{rule}")]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_floats_of_parquet_that_are_none_are_refused(
    value: float, dtype: type[pl.DataType]
) -> None:
    written = [sample(), sample() | {WATTS: value}]
    data = parquet(pl.DataFrame(written, schema_overrides={WATTS: dtype}))
    rule = "nan" if value != value else "inf"  # noqa: PLR0124 - only of NaN
    assert broken(read(data)) == [("row 2", f"{WATTS}|{rule}")]


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999"])
def test_json_has_no_such_numbers(text: str) -> None:
    bad = encode([sample()], "jsonl").replace(b"612.4", text.encode())
    assert len(broken(read(encode([sample()], "jsonl") + bad))) == 1


def test_whole_numbers_and_short_floats_of_parquet_are_widened() -> None:
    frame = pl.DataFrame([sample(temperature_c=45), sample(temperature_c=46)])
    short = frame.with_columns(pl.col(WATTS).cast(pl.Float32))
    found = rows(read(parquet(short)), PowerSamples)
    assert [row["temperature_c"] for row in found] == [45.0, 46.0]
    assert found[0][WATTS] == pl.Series([612.4], dtype=pl.Float32)[0]


def test_a_column_of_another_type_is_named() -> None:
    with pytest.raises(UnreadableFileError, match=f"'{WATTS}': expected double"):
        read(parquet(pl.DataFrame([sample() | {WATTS: "612"}])))
    with pytest.raises(UnreadableFileError, match="'energy_mj': expected int64"):
        read(parquet(pl.DataFrame([sample(energy_mj=1.5)])))
