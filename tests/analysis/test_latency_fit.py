"""Lines through times: exact where they are lines, robust, and as sure as they say."""

import math
import random

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis._latency_fit import fit_lines

#: Sizes that nccl-tests measures: 8 B to 2 GiB, each twice the one before.
DOUBLING = [8.0 * 2**step for step in range(29)]


def points(
    times: dict[float, float], series: int = 0, weight: float = 1.0
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "series": [series] * len(times),
            "size": list(times),
            "time": list(times.values()),
            "weight": [weight] * len(times),
        },
        schema={"series": pl.Int64} | dict.fromkeys(["size", "time", "weight"], float),
    )


def fit(times: dict[float, float]) -> dict[str, float]:
    (row,) = fit_lines(points(times)).to_dicts()
    return row


@given(
    alpha=st.floats(1e3, 1e6),
    gbs=st.floats(0.1, 1000),
    sizes=st.sets(st.integers(0, 34), min_size=3, max_size=35),
)
def test_a_line_is_recovered(alpha: float, gbs: float, sizes: set[int]) -> None:
    row = fit({2.0**n: alpha + 2.0**n / gbs for n in sizes})
    longest = alpha + 2.0 ** max(sizes) / gbs
    # a time of 1e10 ns is known to 1e-6 ns, and so is what is left of it
    assert row["fixed"] == pytest.approx(alpha, abs=1e-12 * longest)
    rise = row["slope"] * 2.0 ** max(sizes)
    assert rise == pytest.approx(2.0 ** max(sizes) / gbs, abs=1e-12 * longest)
    assert row["fixed_error"] <= 1e-9 * longest


def test_a_protocol_between_does_not_bend_the_ends() -> None:
    # GIVEN three protocols, of which the fastest counts: 20 us and 5 GB/s, 60 us and
    # 20 GB/s, 200 us and 80 GB/s
    protocols = ((20e3, 5.0), (60e3, 20.0), (200e3, 80.0))
    times = {size: min(a + size / b for a, b in protocols) for size in DOUBLING}
    row = fit(times)
    # THEN the fixed part is the first one's, the bandwidth the last one's
    assert row["fixed"] == pytest.approx(20e3, rel=0.01)
    assert 1 / row["slope"] == pytest.approx(80, rel=0.01)
    # and no time is below that line
    line = {size: row["fixed"] + row["slope"] * size for size in times}
    assert all(times[size] > 0.98 * line[size] for size in times)


@pytest.mark.parametrize("wild", [5, 15, 26])
@pytest.mark.parametrize("factor", [0.2, 10.0])
def test_a_wild_size_in_ten_moves_little(wild: int, factor: float) -> None:
    times = {size: 160e3 + size / 42 for size in DOUBLING}
    for index in (wild, (wild + 9) % 24, 1):
        times[DOUBLING[index]] *= factor
    row = fit(times)
    assert row["fixed"] == pytest.approx(160e3, rel=0.02)
    assert 1 / row["slope"] == pytest.approx(42, rel=0.02)


def test_order_does_not_matter() -> None:
    rng = random.Random(3)
    rows = pl.concat(
        points({s: (2e4 + s / 9) * rng.uniform(0.9, 1.1) for s in DOUBLING}, series=n)
        for n in range(5)
    )
    shuffled = rows.sample(fraction=1.0, shuffle=True, seed=4)
    assert fit_lines(rows).equals(fit_lines(shuffled))


def test_series_are_fitted_apart() -> None:
    two = pl.concat(
        [
            points({s: 10e3 + s / 5 for s in DOUBLING}, series=1),
            points({s: 90e3 + s / 300 for s in DOUBLING[10:]}, series=2),
        ]
    )
    first, second = fit_lines(two).to_dicts()
    assert (first["fixed"], 1 / first["slope"]) == pytest.approx((10e3, 5))
    assert (second["fixed"], 1 / second["slope"]) == pytest.approx((90e3, 300))


def test_no_series_is_no_line() -> None:
    assert fit_lines(points({})).is_empty()


def test_times_that_fall_with_size_have_a_slope_below_zero() -> None:
    assert fit({1e3: 30e3, 1e6: 20e3, 1e9: 10e3})["slope"] < 0


def test_huge_sizes() -> None:
    row = fit({float(2**n): 5e4 + 2**n / 400 for n in range(40, 63)})
    assert 1 / row["slope"] == pytest.approx(400)
    assert math.isfinite(row["fixed_error"])


def covered(sizes: list[float], sd: float, seed: int, runs: int) -> tuple[float, float]:
    """Share of runs whose intervals hold 160 us and 42 GB/s, errors of sd of a time."""
    rng = np.random.default_rng(seed)
    size = np.array(sizes)
    times = (160e3 + size / 42) * np.exp(rng.normal(0, sd, (runs, len(size))))
    frame = pl.DataFrame(
        {
            "series": np.repeat(np.arange(runs), len(size)),
            "size": np.tile(size, runs),
            "time": times.ravel(),
            "weight": np.ones(runs * len(size)),
        }
    )
    fits = fit_lines(frame)
    held = fits.select(
        fixed=((pl.col("fixed") - 160e3).abs() <= pl.col("fixed_error")).mean(),
        slope=((pl.col("slope") - 1 / 42).abs() <= pl.col("slope_error")).mean(),
    )
    fixed, slope = held.row(0)
    return float(fixed), float(slope)


SIZES = {
    "nccl-tests": DOUBLING,
    "factor 8": [float(2**20 * 8**n) for n in range(5)],
    "three": [1e6, 3e7, 8e8],
    "four": [1e5, 1e6, 3e7, 8e8],
    "eight": [2.0**n for n in range(10, 34, 3)],
}


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_intervals_hold_the_truth(sizes: list[float]) -> None:
    # 400 runs of a true 95 %: 3 standard deviations of the share are 3.3 %
    fixed, slope = covered(sizes, 0.02, seed=11, runs=400)
    assert 0.91 <= fixed <= 0.995
    assert 0.91 <= slope <= 0.995


@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.005, 0.02, 0.1])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_intervals_hold_the_truth_in_many_runs(sizes: list[float], sd: float) -> None:
    fixed, slope = covered(sizes, sd, seed=12, runs=4000)
    assert 0.93 <= fixed <= 0.985
    assert 0.93 <= slope <= 0.985
