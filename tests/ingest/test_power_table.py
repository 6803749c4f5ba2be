"""A table of power: what it must have, and what it leaves out."""

import io
from pathlib import Path

import polars as pl

from ingest import files
from ingest.sources import SOURCES, Head, Reading, power_table
from ingest.tables import PowerSamples
from tests.ingest.readings import reading

ROW = {"gpu_uuid": "GPU-1", "time_ns": 10**18, "power_average_w": 600.0}


def told(frame: pl.DataFrame, about: Reading) -> pl.DataFrame:
    stream = io.BytesIO()
    frame.write_parquet(stream)
    stream.seek(0)
    batches = power_table.read(stream, about)
    return pl.concat([one.rows[PowerSamples] for one in batches])


def test_what_is_left_out_is_of_a_board_of_the_cluster() -> None:
    rows = told(pl.DataFrame([ROW]), reading())
    assert rows["level"].to_list() == ["gpu_board"]
    assert rows["time_quality"].to_list() == ["exact"]
    assert rows["cluster"].to_list() == [reading().cluster]


def test_what_the_table_says_is_kept() -> None:
    rows = told(pl.DataFrame([{**ROW, "level": "module", "cluster": "b"}]), reading())
    assert rows.select("level", "cluster").row(0) == ("module", "b")


def test_names_are_categories_or_text() -> None:
    frame = pl.DataFrame([ROW])
    packed = frame.with_columns(pl.col("gpu_uuid").cast(pl.Categorical))
    assert told(packed, reading())["gpu_uuid"].cast(pl.String).to_list() == ["GPU-1"]


def test_a_table_without_power_is_none() -> None:
    assert not power_table.recognizes(Head("any", b"gpu_uuid,time_ns\nGPU-1,5\n"))
    assert power_table.recognizes(Head("any", b"gpu_uuid,time_ns,energy_mj\nG,5,5\n"))


def test_the_table_is_known_by_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "power.parquet"
    pl.DataFrame([ROW]).write_parquet(path)
    found = files.recognize(files.head_of(path), SOURCES)
    assert found is power_table.SOURCE


def test_json_lines_have_numbers() -> None:
    line = b'{"gpu_uuid": "GPU-1", "time_ns": 5, "power_average_w": 600.5}\n'
    whole = line.replace(b"600.5", b"600")
    (batch,) = power_table.read(io.BytesIO(line + whole), reading())
    rows = batch.rows[PowerSamples]
    assert rows["power_average_w"].to_list() == [600.5, 600.0]
    assert not batch.refused
