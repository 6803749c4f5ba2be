"""CSV of Grafana panels: joined series, empty cells, what was formatted for the eye."""

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import UnreadableFileError
from ingest.sources import SOURCES, Batch, Head, grafana_csv
from ingest.tables import LinkSamples, PowerSamples
from tests.examples import examples
from tests.ingest.readings import held, reading, refused, rows

FOLDER = Path(__file__).resolve().parents[2] / "sample_traces/formats/grafana-csv"
SAMPLE = next(FOLDER.glob("*.csv"))

HEADER = (
    '"Time","{__name__=""DCGM_FI_DEV_POWER_USAGE"", UUID=""GPU-1""}",'
    '"DCGM_FI_DEV_GPU_TEMP{UUID=""GPU-1""}","GPU 7"'
)
AT = 1_764_415_800_217


def of(data: bytes) -> list[Batch]:
    return held(grafana_csv.read(io.BytesIO(data), reading()))


def read(*lines: str) -> list[Batch]:
    return of("".join(f"{line}\n" for line in (HEADER, *lines)).encode())


def test_each_series_has_rows_of_its_own() -> None:
    batches = read(f"{AT},612.5,50,1", f'{AT + 15_000},"613",,')
    found = [
        (r["series"], r["time_ns"], r["power_average_w"], r["temperature_c"])
        for r in rows(batches, PowerSamples)
    ]
    power, heat = "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_GPU_TEMP"
    assert found == [
        (heat, AT * 1_000_000, None, 50),
        (power, AT * 1_000_000, 612.5, None),
        (power, (AT + 15_000) * 1_000_000, 613, None),
    ]
    assert {r["time_quality"] for r in rows(batches, PowerSamples)} == {"resampled"}
    assert refused(batches) == []


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (f"{AT},612 W,50,1", "value|number"),
        (f"{AT},1.2 kW,50,1", "value|number"),
        ("2025-11-29 11:30:00,612,50,1", "time_ns|value"),
        (f'{AT},"1,200",50,1', "cell_count"),
        (f"{AT},612", "cell_count"),
        (f"{AT},-1e300,50,1", "power_average_w|value"),
    ],
)
def test_what_is_formatted_is_refused(line: str, rule: str) -> None:
    batches = read(line)
    assert refused(batches) == [("line 2", rule)]
    (refusal,) = (r for batch in batches for r in batch.refused)
    assert rule == "power_average_w|value" or "Formatted data" in str(refusal.hint)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_what_separates_cells_is_the_browsers_choice(mark: str) -> None:
    header = HEADER.replace('"Time",', f'"Time"{mark}').replace('}","', f'}}"{mark}"')
    first = mark.join((str(AT), "612.5", "50", "1"))
    second = mark.join((str(AT + 15_000), "613", "", ""))
    text = f"sep={mark}\r\n{header}\r\n{first}\r\n{second}\r\n\r\n"
    assert grafana_csv.recognizes(Head("panel.csv", text.encode()))
    batches = of(text.encode())
    assert len(rows(batches, PowerSamples)) == 3
    assert refused(batches) == []


def test_frames_follow_each_other() -> None:
    other = '"Time","{__name__=""DCGM_FI_DEV_GPU_TEMP"", UUID=""GPU-2""}"'
    batches = read(f"{AT},612.5,50,1", "", other, f"{AT},44")
    found = {r["gpu_uuid"]: r["temperature_c"] for r in rows(batches, PowerSamples)}
    assert (found["GPU-2"], refused(batches)) == (44, [])


def test_a_panel_is_known_by_its_series() -> None:
    def names(text: str) -> list[str]:
        head = Head("panel.csv", text.encode())
        return [source.name for source in SOURCES if source.recognizes(head)]

    assert names(SAMPLE.read_text()) == ["grafana-csv"]
    assert names(f"\ufeff{HEADER}\n") == ["grafana-csv"]
    assert "grafana-csv" not in names("Time,GPU 7\n1,2\n")
    assert "grafana-csv" not in names(HEADER.replace("Time", "Date"))


def test_ports_are_read_too() -> None:
    found = rows(of(SAMPLE.read_bytes()), LinkSamples)
    assert {row["port"] for row in found} == {"mlx5_0/1"}
    assert found[0]["tx_bytes"] == 22_447_376_952


def test_without_a_header_nothing_can_be_told() -> None:
    with pytest.raises(UnreadableFileError, match="Formatted data"):
        of(b"1,2,3\n")


@settings(deadline=None, max_examples=examples(30))
@given(st.binary(max_size=80), st.integers(0, 900))
def test_a_damaged_panel_keeps_the_law(noise: bytes, at: int) -> None:
    sample = SAMPLE.read_bytes()
    try:
        batches = of(sample[:at] + noise + sample[at + len(noise) :])
    except UnreadableFileError:
        return
    assert all(r.rule and r.place for batch in batches for r in batch.refused)
