"""Published failure rates: Llama 3, Meta's clusters, InfiniteHBD, exact intervals."""

import re
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

from analysis._analysis import Frames
from analysis.attempts import Attempts
from analysis.interrupt_rates import ANALYSIS, InterruptRates
from analysis.interruptions import Interruptions
from analysis.poisson import mean_interval, mtbf, mtbf_of_nodes, per_1000_node_days
from analysis.runs import Runs
from ingest.tables import Table
from ingest.times import DAY_NS

HOUR_NS: Final = 3_600 * 1_000_000_000

#: Unexpected interruptions of Llama 3 in 54 days on 2,048 nodes (arXiv 2407.21783,
#: table 5), by component.
LLAMA_3: Final = {
    "faulty_gpu": 148,
    "gpu_memory": 72,
    "software_bug": 54,
    "switch_or_cable": 35,
    "host_maintenance": 32,
    "gpu_sram": 19,
    "gpu_processor": 17,
    "nic": 7,
    "watchdog": 7,
    "silent_corruption": 6,
    "gpu_thermal": 6,
    "ssd": 3,
    "power_supply": 3,
    "chassis": 2,
    "io_board": 2,
    "dependency": 2,
    "cpu": 2,
    "system_memory": 2,
}


@pytest.fixture(scope="module")
def expected(shared: Path) -> dict[str, str]:
    """Values by the number of their row."""
    values: dict[str, str] = {}
    for name, column in (("failures", 4), ("design_figures", 3)):
        lines = (shared / "expected" / f"{name}.tsv").read_text().splitlines()
        values |= {(row := line.split("\t"))[0]: row[column] for line in lines[1:]}
    return values


def numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"\d+\.\d+|\d+", text)]


@pytest.mark.parametrize(("row", "count"), [("E107", 0), ("E108", 1), ("E109", 3)])
def test_the_interval_of_few_events(
    expected: dict[str, str], row: str, count: int
) -> None:
    assert numbers(expected[row]) == [round(end, 3) for end in mean_interval(count)]


def test_the_interval_of_llama_3(expected: dict[str, str]) -> None:
    found = mtbf(419, 1296 * HOUR_NS, mean_interval(419))
    assert found.mean_ns is not None
    assert found.high_ns is not None
    hours = [found.low_ns, found.high_ns, found.mean_ns]
    assert [round(ns / HOUR_NS, 3) for ns in hours] == numbers(expected["E105"])


@pytest.mark.parametrize(("row", "gpus"), [("E100", 16_384), ("E101", 131_072)])
def test_the_projection_of_rsc_1(expected: dict[str, str], row: str, gpus: int) -> None:
    (printed,) = numbers(expected[row])
    hours = mtbf_of_nodes(gpus // 8, 6.5) / HOUR_NS
    assert hours == pytest.approx(printed, abs=0.05 if printed > 1 else 0.005)


def test_the_rate_of_infinite_hbd(expected: dict[str, str]) -> None:
    count, nodes, days = int(expected["E001"]), 400, int(expected["E004"])
    found = per_1000_node_days(count, nodes * days * DAY_NS, mean_interval(count))
    assert round(found.value, 3) == float(expected["E041"])
    assert (round(found.low, 2), round(found.high, 2)) == (3.86, 4.55)


def rows_of(table: type[Table], rows: list[dict[str, Any]]) -> pl.LazyFrame:
    return pl.DataFrame(rows, schema=table.create_empty().schema).lazy()


@pytest.fixture(scope="module")
def llama_3() -> pl.DataFrame:
    """Rates of 419 attempts of equal length and one cause each, 54 days together."""
    components = [name for name, count in LLAMA_3.items() for _ in range(count)]
    total, span = len(components), 54 * DAY_NS
    attempts = [
        {
            "run_id": "llama",
            "attempt": number,
            "cluster": "meta",
            "start_ns": number * span // total,
            "end_ns": (number + 1) * span // total,
            "gpu_count": 16_384,
        }
        for number in range(total)
    ]
    stops = [
        {
            "run_id": "llama",
            "attempt": number,
            "planned": False,
            "component": component,
            "category": "hardware",
        }
        for number, component in enumerate(components)
    ]
    frames = {
        Attempts: rows_of(Attempts, attempts),
        Interruptions: rows_of(Interruptions, stops),
        Runs: rows_of(Runs, [{"run_id": "llama", "gpus_per_node": 8}]),
    }
    return ANALYSIS.compute(Frames(frames), {})[InterruptRates]


def test_the_rates_of_llama_3(llama_3: pl.DataFrame, expected: dict[str, str]) -> None:
    of_run = (pl.col("scope") == "run") & (pl.col("category") == "all")
    row = llama_3.row(by_predicate=of_run, named=True)
    assert row["count"] == 419
    hours = [float(row[name]) / HOUR_NS for name in ("mtbf_ns", "mtbf_low_ns")]
    hours += [float(row["mtbf_high_ns"]) / HOUR_NS]
    mean, low, high = numbers(expected["D17"].replace("95 %", ""))
    assert hours == pytest.approx([mean, low, high], abs=0.001)
    rates = [row[f"per_1000_node_days{end}"] for end in ("", "_low", "_high")]
    assert rates == pytest.approx(numbers(expected["D18"]), abs=0.002)


def test_the_share_that_table_5_misprints(
    llama_3: pl.DataFrame, expected: dict[str, str]
) -> None:
    of_gpu = (pl.col("scope") == "run") & (pl.col("component") == "faulty_gpu")
    count = llama_3.row(by_predicate=of_gpu, named=True)["count"]
    assert count == 148
    # The paper prints 30.1; its own counts give 35.3.
    assert round(100 * count / 419, 1) == float(expected["E099"])
