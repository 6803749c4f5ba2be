"""Energy of real and of published readings, through their readers."""

import csv
from pathlib import Path
from typing import Final

import polars as pl
import pytest

from analysis._analysis import Frames
from analysis._energy_refresh import refresh
from analysis.energy_checks import ANALYSIS as CHECKS
from analysis.energy_checks import EnergyChecks
from ingest.sources import dcgm_exporter, nvidia_smi, zeus
from ingest.tables import EnergyWindows, PowerSamples
from ingest.times import parse_zone
from tests.published.power_proofs import (
    at,
    hold,
    measure,
    read,
    rows_of,
    scrapes,
    table_of,
)

POWER: Final = "DCGM_FI_DEV_POWER_USAGE"
ENERGY: Final = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"

#: An A800 with three MIG instances: each repeats the power of the whole board.
MIG: Final = {"1g.10gb": 78.174, "2g.20gb": 78.174, "3g.40gb": 78.446}

#: The other boards of its node draw what makes 470.510 W in all.
OTHERS: Final = (56.0, 56.0, 56.0, 56.0, 56.0, 56.0, 56.064)


def series(metric: str = POWER, gpu: str = "GPU-0", **labels: str) -> str:
    named = {"gpu": "0", "UUID": gpu} | labels
    texts = ",".join(f'{name}="{value}"' for name, value in named.items())
    return f"{metric}{{{texts}}}"


def of_text(text: str) -> pl.DataFrame:
    return table_of(read(dcgm_exporter.SOURCE, text), PowerSamples)


def test_a_repeated_mig_series_counts_once() -> None:
    lines = [
        (series(GPU_I_PROFILE=profile, GPU_I_ID=str(n)), f"{watts:f}")
        for n, (profile, watts) in enumerate(MIG.items())
    ]
    lines += [
        (series(gpu=f"GPU-{n}"), f"{watts:f}") for n, watts in enumerate(OTHERS, 1)
    ]
    naive = sum(float(watts) for _, watts in lines)
    assert naive == pytest.approx(626.858, abs=1e-9)
    found = measure(of_text(scrapes(lines, range(11))))
    assert len(found) == 8
    assert sum(row["mean_w"] for row in found) == pytest.approx(470.510, abs=1e-9)
    assert sum(row["energy_j"] for row in found) == pytest.approx(4_705.10, abs=1e-6)
    doubts = {row["gpu_uuid"]: row["quality"] for row in found}
    assert doubts.pop("GPU-0") == "duplicate_series_collapsed"
    assert set(doubts.values()) == {None}
    assert naive / 470.510 - 1 == pytest.approx(0.332, abs=5e-4)


def test_a_counter_that_is_reset_says_so_and_is_a_lower_bound() -> None:
    # 100 W for 20 s, a driver reload, 40 J since then, 100 W for 10 s more
    reads = {0: 500_000, 10: 1_500_000, 20: 2_500_000, 30: 40_000, 40: 1_040_000}
    text = "".join(
        scrapes([(series(ENERGY), str(millijoules))], [second])
        for second, millijoules in reads.items()
    )
    (row,) = measure(of_text(text))
    assert row["energy_j"] == pytest.approx(2_000 + 40 + 1_000)
    assert row["coverage_ratio"] == pytest.approx(30 / 40)
    assert row["quality"] == "counter_reset"


def test_a_sentinel_is_a_blank_and_says_so() -> None:
    lines = scrapes([(series(), "100.5")], range(10))
    blank = scrapes([(series(), "9223372036854775794")], [4.5])
    (row,) = measure(of_text(lines + blank))
    assert row["energy_j"] == pytest.approx(9 * 100.5)
    assert (row["peak_w"], row["quality"]) == (100.5, "sentinel")


def test_a_scrape_of_thirty_seconds_says_that_it_is_slow() -> None:
    (row,) = measure(of_text(scrapes([(series(), "30{n}.5")], range(0, 300, 30))))
    assert row["quality"] == "slow_scrape"
    assert row["coverage_ratio"] == 1


def test_a_frozen_sensor_says_that_it_is_stale() -> None:
    # 12 792 rows in 699.63 s, one value, and clocks that cannot be read: a plausible
    # 32 315.9 J of a sensor that stood still
    header = "timestamp, uuid, power.draw [W], temperature.gpu, clocks.current.sm [MHz]"
    step_s = 699.63 / 12_791
    rows = []
    for n in range(12_792):
        second = n * step_s
        minute, rest = divmod(second, 60)
        stamp = f"2023/12/18 17:{int(minute):02}:{rest:06.3f}"
        rows.append(f"{stamp}, GPU-0, 46.19 W, [Unknown Error], [Unknown Error]")
    text = "\n".join([header, *rows]) + "\n"
    batches = read(nvidia_smi.SOURCE, text, zone_basis="card")
    (row,) = measure(table_of(batches, PowerSamples))
    assert row["energy_j"] == pytest.approx(32_315.9, abs=0.1)
    assert row["quality"] == "stale_sensor"


def test_a_window_shorter_than_the_refresh_says_so() -> None:
    lines = "".join(scrapes([(series(), f"{100 + n}.5")], [n / 10]) for n in range(20))
    held = [hold("GPU-0", at(1.02), at(1.07), host="n1")]
    found = measure(of_text(lines), held)
    of_run = next(row for row in found if row["run_id"])
    assert of_run["quality"] == "refresh_slower_than_window"


def test_a_clock_that_is_off_says_so() -> None:
    lines = scrapes([(series(), "10{n}.5")], range(10))
    held = [hold("GPU-0", at(0), at(9), host="n1")]
    clocks = [{"run_id": "r", "host": "n1", "offset_ns": -1_500_000_000}]
    assert [row["quality"] for row in measure(of_text(lines), held)] == [None]
    assert [row["quality"] for row in measure(of_text(lines), held, clocks)] == [
        "clock_skew"
    ]


def test_the_load_of_an_a100_is_that_of_its_meter(shared: Path) -> None:
    folder = shared / "data/power/JimZeyuYang+GPU_Power_Benchmark/plotting/data"
    text = (folder / "5050/A100/gpudata.csv").read_text()
    # its clock was British Summer Time
    told = {"zone": parse_zone("Europe/London"), "zone_basis": "card"}
    batches = read(nvidia_smi.SOURCE, text, **told)
    samples = table_of(batches, PowerSamples)
    edges = pl.read_csv(folder / "5050/A100/timestamps.csv")["timestamp"] * 1_000
    gpu = samples["gpu_uuid"][0]
    start, end = edges.sort()[0], edges.sort()[-1]
    held = [hold(gpu, start, end, local_rank=0)]
    found = measure(samples, held)
    of_run = next(row for row in found if row["run_id"] == "r")
    assert of_run["energy_j"] == pytest.approx(1_024.9, abs=0.1)
    assert of_run["energy_j"] == pytest.approx(1_024.72, rel=5e-4)  # the meter
    assert of_run["mean_w"] == pytest.approx(129.24, abs=0.02)
    assert (end - start) / 1e9 == pytest.approx(7.930, abs=1e-3)
    assert of_run["coverage_ratio"] == 1


def test_the_sensor_of_an_a100_says_something_new_ten_times_a_second(
    shared: Path,
) -> None:
    # polled every 7 to 13 ms; its reading changes every 101 to 104 ms
    folder = shared / "data/power/JimZeyuYang+GPU_Power_Benchmark/plotting/data"
    text = (folder / "5050/A100/gpudata.csv").read_text()
    samples = table_of(read(nvidia_smi.SOURCE, text), PowerSamples)
    numbered = samples.with_columns(device=pl.lit(0, pl.Int64)).sort("time_ns")
    (told,) = refresh(numbered, "power_average_w")["refresh_ns"].to_list()
    assert 100e6 < told < 105e6


@pytest.mark.parametrize(
    "name",
    [
        "A40+bert-base-uncased+gpu0.csv",
        "A40+resnet18+gpu0.csv",
        "A40+resnet18+gpu0,1,2,3.csv",
    ],
)
def test_a_zeus_log_is_shown_beside_ours(shared: Path, name: str) -> None:
    path = shared / "data/power/ml-energy+zeus/tests/profile_data" / name
    batches = read(zeus.SOURCE, path.read_text(), name=name)
    frames = Frames({EnergyWindows: table_of(batches, EnergyWindows).lazy()})
    found = CHECKS.compute(frames, CHECKS.thresholds)[EnergyChecks]
    with path.open() as lines:
        rows = list(csv.DictReader(lines))
    told = sorted(
        float(value)
        for row in rows
        for key, value in row.items()
        if key.endswith("_energy")
    )
    assert found["told_j"].sort().to_list() == pytest.approx(told, abs=1e-3)
    assert set(found["quality"]) == {"clock_without_date"}
    assert set(found["verdict"]) == {"not_comparable"}


def test_a_zeus_log_of_sampled_gpus_agrees_or_differs() -> None:
    # 100.5 W: 402 J in 4 s; the second window says a tenth more than it was
    lines = of_text(scrapes([(series(), "100.5")], range(20), host="any"))
    text = (
        "start_time,window_name,elapsed_time,gpu0_energy\n"
        f"{at(2) / 1e9:.1f},step_0,4.0,402.0\n"
        f"{at(6) / 1e9:.1f},step_1,4.0,442.2\n"
        f"{at(2) / 1e9:.1f},epoch,8.0,804.0\n"
        f"{at(400) / 1e9:.1f},late,4.0,402.0\n"
    )
    windows = table_of(read(zeus.SOURCE, text), EnergyWindows)
    uuid = windows["gpu_uuid"][0]
    frames = Frames(
        {
            PowerSamples: lines.with_columns(gpu_uuid=pl.lit(uuid)).lazy(),
            EnergyWindows: windows.lazy(),
        }
    )
    found = CHECKS.compute(frames, CHECKS.thresholds)[EnergyChecks]
    told = {row["window"]: row for row in EnergyChecks.validate(found).to_dicts()}
    assert told["step_0"]["difference_ratio"] == pytest.approx(0, abs=1e-9)
    assert told["step_1"]["difference_ratio"] == pytest.approx(0.1)
    assert told["epoch"]["energy_j"] == pytest.approx(804)
    assert {name: row["verdict"] for name, row in told.items()} == {
        "step_0": "agrees",
        "step_1": "differs",
        "epoch": "agrees",
        "late": "not_comparable",
    }
    assert told["late"]["quality"] == "no_samples"


def test_all_gpus_of_a_node_are_held_against_codecarbon() -> None:
    # two GPUs of 100.5 W and 99.5 W for 10 s: 2 kJ, and CodeCarbon says as much
    lines = [(series(), "100.5"), (series(gpu="GPU-1"), "99.5")]
    samples = of_text(scrapes(lines, range(20)))
    window = {
        "cluster": "pod",
        "host": "n1",
        "gpu_uuid": "node",
        "level": "gpus",
        "window": "run",
        "start_ns": at(2),
        "end_ns": at(12),
        "duration_ns": 10 * 10**9,
        "time_quality": "exact",
        "energy_mj": 2_000_000,
    }
    other = window | {"level": "tracked"}
    windows = rows_of(EnergyWindows, [window, other])
    frames = Frames({PowerSamples: samples.lazy(), EnergyWindows: windows})
    found = CHECKS.compute(frames, CHECKS.thresholds)[EnergyChecks]
    told = {row["level"]: row for row in EnergyChecks.validate(found).to_dicts()}
    assert told["gpus"]["energy_j"] == pytest.approx(2_000)
    assert told["gpus"]["verdict"] == "agrees"
    assert told["tracked"]["quality"] == "no_sampled_level"
