"""rocm-smi: labels of several ages in JSON and CSV, cards, no times."""

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ingest.sources import Batch, Head, Source, rocm_smi
from ingest.tables import PowerSamples
from tests.ingest.readings import MARK, held, reading, refused


def read(source: Source, text: str, **told: Any) -> list[Batch]:
    return held(source.read(io.BytesIO(text.encode()), reading(**told)))


def samples(batches: Iterable[Batch]) -> list[dict[str, Any]]:
    frames = [b.rows[PowerSamples] for b in batches if PowerSamples in b.rows]
    return pl.concat(frames, how="diagonal").to_dicts() if frames else []


def documents(source: Source, *values: object, **told: Any) -> list[Batch]:
    text = "".join(json.dumps(value, indent=2) + "\n" for value in values)
    assert source.recognizes(Head("any", text.encode()[:65_536]))
    return read(source, text, **told)


def card(**labels: str) -> dict[str, object]:
    return {"card0": labels, "system": {"Driver version": "6.8.5"}}


@pytest.mark.parametrize(
    ("label", "value", "column", "expected"),
    [
        ("Average Graphics Package Power (W)", "36.0", "power_average_w", 36.0),
        (
            "Current Socket Graphics Package Power (W)",
            "133.0",
            "power_instant_w",
            133.0,
        ),
        ("Max Graphics Package Power (W)", "290.0", "power_limit_w", 290.0),
        ("Accumulated Energy (uJ)", "282233912345.6", "energy_mj", 282_233_912),
        ("Temperature (Sensor junction) (C)", "55.0", "temperature_c", 55.0),
        ("Temperature (Sensor edge) (C)", "53.0", "temperature_c", 53.0),
        ("Temperature (Sensor memory) (C)", "54.0", "memory_temperature_c", 54.0),
        ("sclk clock speed:", "(300Mhz)", "sm_clock_mhz", 300.0),
        ("GPU use (%)", "57", "utilization_ratio", 0.57),
    ],
)
def test_labels_of_rocm_smi(
    label: str, value: str, column: str, expected: float
) -> None:
    (row,) = samples(documents(rocm_smi.SOURCE, card(**{label: value, "0": "495Mhz"})))
    assert row[column] == pytest.approx(expected, rel=1e-12)
    assert (row["gpu_uuid"], row["time_quality"]) == (f"index:0 of {MARK}", "file_time")
    header = f"device,{label}"
    text = f"{header}\ncard0,{value}\n"
    assert rocm_smi.recognizes(Head("any", text.encode()))
    (other,) = samples(read(rocm_smi.SOURCE, text))
    assert other[column] == pytest.approx(expected, rel=1e-12)
    assert other["gpu_uuid"] == f"index:0 of {MARK}"


def test_identity_of_a_card() -> None:
    power = {"Average Graphics Package Power (W)": "36.0", "PCI Bus": "0000:5D:00.0"}
    (row,) = samples(documents(rocm_smi.SOURCE, card(**power)))
    assert row["gpu_uuid"] == f"pci:0000:5d:00 of {MARK}"
    (row,) = samples(documents(rocm_smi.SOURCE, card(**power, **{"Unique ID": "0xa1"})))
    assert row["gpu_uuid"] == "0xa1"


def test_calls_of_rocm_smi_that_were_appended_are_refused() -> None:
    look = card(**{"Average Graphics Package Power (W)": "36.0"})
    batches = documents(rocm_smi.SOURCE, look, look)
    assert [rule for _, rule in refused(batches)] == ["time_ns|required"] * 2


DATA = "data/power/influxdata+telegraf/plugins/inputs/amd_rocm_smi/testdata"


@pytest.mark.parametrize(
    ("name", "watts", "limit", "celsius"),
    [
        ("mi100_rocm602.json", [36.0, 44.0, 43.0, 39.0], 290.0, 55.0),
        ("rx6700xt_rocm571.json", [6.0], 211.0, 47.0),
        ("rx6700xt_rocm612.json", [6.0], 211.0, 47.0),
        ("vega-20-WKS-GL-XE.json", [26.0], 225.0, 38.0),
    ],
)
def test_published_files(
    shared: Path, name: str, watts: list[float], limit: float, celsius: float
) -> None:
    data = (shared / DATA / name).read_bytes()
    assert rocm_smi.recognizes(Head(name, data))
    batches = held(rocm_smi.read(io.BytesIO(data), reading(modified_ns=1)))
    found = samples(batches)
    assert [row["power_average_w"] for row in found] == watts
    assert {row["power_limit_w"] for row in found} == {limit}
    assert found[0]["temperature_c"] == celsius
    assert refused(batches) == []


@pytest.mark.parametrize(
    ("value", "repairs"),
    [(r"\udc00\ud800", 2), (r"\ud83d\ude00", 0), (r"\\ud800", 0), (r"a\uDBFF", 1)],
)
def test_halves_of_surrogate_pairs_are_replaced_and_counted(
    value: str, repairs: int
) -> None:
    power = '"Average Graphics Package Power (W)": "36.0"'
    text = f'{{"card0": {{{power}, "Unique ID": "{value}"}}}}\n'
    batches = read(rocm_smi.SOURCE, text)
    (row,) = samples(batches)
    assert row["power_average_w"] == 36.0
    assert ("\ufffd" in row["gpu_uuid"]) == bool(repairs)
    assert sum(batch.repairs for batch in batches) == repairs
