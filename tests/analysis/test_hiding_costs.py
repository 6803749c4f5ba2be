"""Whether hiding costs something: drawn ratios, and kernels with a simulated truth."""

import numpy as np
import polars as pl
import pytest

from analysis._overlap_hiding import RUN, costs
from analysis.hiding_costs import HidingCosts, by_name


def device(name: str, ratio: float, error: float, number: int = 0) -> dict[str, object]:
    """A ratio whose logarithm has a standard error."""
    return {
        "run_id": "run",
        "attempt": 0,
        "trace_id": f"t{number}",
        "device": 0,
        "name": name,
        "slowdown_ratio": ratio,
        "slowdown_low_ratio": ratio * float(np.exp(-1.96 * error)),
        "slowdown_high_ratio": ratio * float(np.exp(1.96 * error)),
        "cost_ns": 1e6 * (ratio - 1),
    }


def compared(*rows: dict[str, object]) -> dict[str, tuple[float, bool]]:
    schema = HidingCosts.create_empty().schema
    frame = pl.DataFrame(list(rows), schema_overrides=schema)
    full = pl.concat([HidingCosts.create_empty(), frame], how="diagonal")
    found = by_name(full).select("name", "slowdown_ratio", "is_slower")
    return {name: (ratio, slower) for name, ratio, slower in found.iter_rows()}


def test_devices_are_averaged_by_how_sure_they_are() -> None:
    # ln 1.1 with errors 0.01 and ln 1.2 with 0.02: weights 4 and 1
    found = compared(device("gemm", 1.1, 0.01), device("gemm", 1.2, 0.02, 1))
    expected = np.exp((4 * np.log(1.1) + np.log(1.2)) / 5)
    assert found["gemm"][0] == pytest.approx(expected)
    assert found["gemm"][1]


def test_neither_chance_nor_a_trifle_is_called_slower() -> None:
    found = compared(
        device("sure", 1.05, 0.01),
        device("unsure", 1.05, 0.04),
        device("trifle", 1.005, 0.0001),
        device("faster", 0.9, 0.01),
    )
    assert {name for name, (_, slower) in found.items() if slower} == {"sure"}


def simulated(seed: int, slowdown: float) -> dict[str, tuple[float, bool]]:
    """Four kernels on 8 devices, 24 alone and 24 beside, each with a CV of 1 %."""
    random = np.random.default_rng(seed)
    beside = np.tile(np.repeat([0, 1], 24), 32)
    names, devices = np.repeat([*"abcd"], 48 * 8), np.tile(np.repeat(range(8), 48), 4)
    slow = np.where((names == "a") & (beside == 1), slowdown, 1)
    duration = (1e6 * slow * random.normal(1, 0.01, len(names))).astype(int)
    run = pl.DataFrame(
        {
            "number": devices,
            "name": names,
            "duration_ns": duration,
            "beside_ns": duration * beside,
        }
    ).cast(pl.DataFrame(schema=RUN).schema)
    found = costs(run, 10, 0.5).with_columns(
        run_id=pl.lit("run"), trace_id=pl.col("number").cast(pl.String)
    )
    full = pl.concat([HidingCosts.create_empty(), found], how="diagonal_relaxed")
    answer = by_name(full).select("name", "slowdown_ratio", "is_slower").iter_rows()
    return {name: (ratio, slower) for name, ratio, slower in answer}


def test_kernels_that_cost_nothing_are_not_called_slower() -> None:
    flagged = [
        name
        for seed in range(40)
        for name, (_, slower) in simulated(seed, 1.0).items()
        if slower
    ]
    assert flagged == []


def test_a_kernel_that_is_slower_by_three_percent_is_found_alone() -> None:
    for seed in range(40):
        found = simulated(seed, 1.03)
        assert {name for name, (_, slower) in found.items() if slower} == {"a"}
        assert found["a"][0] == pytest.approx(1.03, abs=0.006)
