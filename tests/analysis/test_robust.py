"""Robust statistics and tests over many things, against their definitions."""

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from scipy.stats import false_discovery_control

from analysis.robust import (
    false_discovery_q,
    lag_correlation,
    leave_one_out_median,
    robust_sd,
    widening,
)

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20)), max_size=20)


@given(ROWS)
def test_the_median_of_the_others_is_that_without_the_row(
    rows: list[tuple[int, int]],
) -> None:
    schema = {"cell": pl.Int64, "work": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    told = leave_one_out_median(frame, "cell", "work")
    assert sorted(told.select("cell", "work").rows()) == sorted(rows)
    for cell, work, peers, median in told.iter_rows():
        others = [w for c, w in rows if c == cell]
        others.remove(work)
        assert peers == len(others)
        assert median == (np.median(others) if others else None)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_q_values_are_those_of_benjamini_and_hochberg(p_values: list[float]) -> None:
    frame = pl.DataFrame({"p": p_values})
    got = frame.select(q=false_discovery_q(pl.col("p")))["q"].to_list()
    assert got == pytest.approx(list(false_discovery_control(p_values)))


def test_robust_sd_of_a_normal_sample_with_a_wild_value() -> None:
    values = [*np.random.default_rng(1).normal(0, 2, 20_000), 1e9]
    (sd,) = pl.DataFrame({"v": values}).select(sd=robust_sd(pl.col("v")))["sd"]
    assert sd == pytest.approx(2, rel=0.03)


def test_lag_correlation_of_a_drawn_series() -> None:
    # 1 -1 1 -1: three products of -1 over four squares of 1
    frame = pl.DataFrame({"r": [1.0, -1.0, 1.0, -1.0]})
    following = pl.col("r").shift(-1)
    (lag,) = frame.select(lag=lag_correlation(pl.col("r"), following))["lag"]
    assert lag == -3 / 4
    still = frame.select(lag=lag_correlation(pl.col("r") * 0, following * 0))["lag"]
    assert still.to_list() == [0.0]


@pytest.mark.parametrize(
    ("lag", "factor"), [(0.0, 1.0), (-0.5, 1.0), (0.4, (1.4 / 0.6) ** 0.5)]
)
def test_errors_of_correlated_values_are_wider(lag: float, factor: float) -> None:
    (got,) = pl.DataFrame({"lag": [lag]}).select(w=widening(pl.col("lag")))["w"]
    assert got == pytest.approx(factor)
