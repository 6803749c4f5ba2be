"""The arithmetic of a run of 16,384 GPUs, from `gpuledger plan` and its run card."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from pipeline import planning
from pipeline.cli import run_tokens
from pipeline.settings import load

#: The run as table 4 of arXiv 2407.21783 has it, with its price, network and luck.
CARD: Final = """
run_id = "llama3-405b"
[hardware]
gpu = "H100-SXM"
gpus = 16384
gpus_per_node = 8
peak_tflops = 989
nvlink_gbs = 450
network_gbs = 50
tdp_w = 700
memory_bytes = 80e9
sms = 132
communication_sms = 20
[layout]
tp = 8
pp = 16
dp = 128
vpp = 1
microbatches = 16
[training]
parameters = 405e9
total_tokens = 15.6e12
tokens_per_step = 16777216
sequence_length = 8192
planned_steps = 1_100_000
planned_days = 54
step_s = 6
achieved_tflops = 400
exposed_communication_s = 0.4
[price]
usd_per_gpu_hour = 2
[fabric]
gpus_per_rack = 16
racks_per_pod = 192
pods = 8
tiers = 3
fibre_m = 100
round_latency_us = 5
[reliability]
interruptions = 419
observed_days = 54
"""

#: Two replicas, one on each of two nodes: 20e9 / 3 parameters of 6 B, half sent.
CARD_20_GB: Final = """
[hardware]
gpus_per_node = 3
network_gbs = 50
[layout]
tp = 3
dp = 2
[training]
parameters = 20e9
"""

Rows = Mapping[str, Mapping[str, Any]]


def value(*names: str, per: float = 1.0) -> Callable[[Rows], list[float]]:
    """Values of lines, in another unit."""
    return lambda rows: [rows[name]["value"] / per for name in names]


def usd(name: str) -> Callable[[Rows], list[float]]:
    return lambda rows: [rows[name]["usd"]]


#: Lines that give each figure; an hour is 3,600 s, a nanosecond 1e-9 s, a MW 1e6 W.
FIGURES: Final[dict[str, Callable[[Rows], list[float]]]] = {
    "D01": value("layout_gpus"),
    "D02": usd("hour"),
    "D03": usd("day"),
    "D04": usd("one_ms_per_step"),
    "D05": usd("100_ms_per_step"),
    "D06": lambda rows: [
        rows["exposed_time"]["value"] / 3600,
        rows["exposed"]["usd"],
    ],
    "D07": value("training_flops"),
    "D08": value("one_gpu_years"),
    "D09": value("state_bytes"),
    "D10": value("step_data_bytes"),
    "D11": value("data_bytes", "data_buffer_bytes"),
    "D12": value("data_time"),
    "D13": value("ring_rounds"),
    "D14": value("ring_latency"),
    "D15": value("ring_slice_bytes"),
    "D16": value("tree_rounds"),
    "D17": value("observed_mtbf", "observed_mtbf_low", "observed_mtbf_high", per=3600),
    "D18": value("observed_rate", "observed_rate_low", "observed_rate_high"),
    "D19": value("gpus_per_pod", "fabric_gpus"),
    "D20": value("longest_path_switches"),
    "D21": value("fibre_delay", per=1e-9),
    "D22": value("gpu_power", per=1e6),
    "D23": value("communication_sm_share"),
    "D24": value("bubble_of_ideal", "bubble_of_step"),
    "D25": value("steps_in_planned_days"),
}


@pytest.fixture(scope="module")
def expected(shared: Path) -> dict[str, tuple[str, str]]:
    """Value and tolerance of each figure."""
    lines = (shared / "expected" / "design_figures.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    return {row[0]: (row[3], row[4]) for row in rows}


def planned(folder: Path, card: str) -> Rows:
    path = folder / "run.toml"
    path.write_text(card)
    told = planning.answer(load(lake=folder / "none"), path)
    return {row["name"]: row for row in told.rows.iter_rows(named=True)}


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    return planned(tmp_path_factory.mktemp("plan"), CARD)


def numbers(text: str) -> list[float]:
    plain = text.replace("95 % ", "").replace("(n-1)/n", "")
    found = re.findall(r"\d+(?:\.\d+)?(?:e\d+)?", plain)
    return [float(one) for one in found]


def close(found: list[float], expected: tuple[str, str]) -> None:
    """Compare with the tolerance of the table: relative, by unit, or none at all."""
    printed, tolerance = expected
    values, allowed = numbers(printed), numbers(tolerance)
    assert len(found) == len(values)
    for number, (have, want) in enumerate(zip(found, values, strict=True)):
        by = allowed[min(number, len(allowed) - 1)]
        by *= want / 100 if "%" in tolerance else 1
        assert have == pytest.approx(want, rel=1e-12, abs=by)


def test_all_figures_are_there(expected: dict[str, tuple[str, str]]) -> None:
    assert list(FIGURES) == list(expected)


@pytest.mark.parametrize("figure", sorted(set(FIGURES) - {"D12"}))
def test_a_figure_of_the_run(
    plan: Rows, expected: dict[str, tuple[str, str]], figure: str
) -> None:
    close(FIGURES[figure](plan), expected[figure])


def test_the_time_of_20_gb(
    tmp_path: Path, expected: dict[str, tuple[str, str]]
) -> None:
    rows = planned(tmp_path, CARD_20_GB)
    assert rows["data_bytes"]["value"] == pytest.approx(20e9, rel=1e-12)
    close(FIGURES["D12"](rows), expected["D12"])


def test_the_state_against_a_device(plan: Rows) -> None:
    assert plan["devices_for_state"]["value"] == pytest.approx(6.48e12 / 80e9)


def test_the_command_line_gives_the_same_figures(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    plan: Rows,
    expected: dict[str, tuple[str, str]],
) -> None:
    path = tmp_path / "run.toml"
    path.write_text(CARD)
    tokens = ["plan", str(path), "--format", "json", "--lake", str(tmp_path / "none")]
    assert run_tokens(tokens) == 0
    said = capsys.readouterr()
    rows = {row["name"]: row for row in json.loads(said.out)}
    assert rows.keys() == plan.keys()
    for figure in ("D04", "D07", "D11", "D17", "D24"):
        close(FIGURES[figure](rows), expected[figure])
    assert "2 USD per GPU-hour (run card)" in said.err.replace("2.0", "2")
