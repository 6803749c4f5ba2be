import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, poisson

from analysis.poisson import (
    mean_interval,
    mtbf,
    mtbf_of_nodes,
    per_1000_node_days,
)
from ingest.times import DAY_NS

HOUR_NS = 3_600_000_000_000


@given(st.integers(1, 5_000))
def test_the_ends_are_the_quantiles_of_chi_squared(count: int) -> None:
    low, high = mean_interval(count)
    assert low == pytest.approx(chi2.ppf(0.025, 2 * count) / 2, rel=1e-9)
    assert high == pytest.approx(chi2.ppf(0.975, 2 * count + 2) / 2, rel=1e-9)


@given(st.integers(0, 2_000))
def test_at_either_end_the_count_is_as_unlikely_as_promised(count: int) -> None:
    low, high = mean_interval(count)
    assert poisson.cdf(count, high) == pytest.approx(0.025, rel=1e-6)
    if count:
        assert poisson.sf(count - 1, low) == pytest.approx(0.025, rel=1e-6)


def test_without_an_event_the_mean_time_is_only_known_to_be_long() -> None:
    found = mtbf(0, 3_689 * HOUR_NS, mean_interval(0))
    assert found.mean_ns is None
    assert found.high_ns is None
    # -ln(0.025) = 3.68888 events would not have been seen once in forty times.
    assert found.low_ns / HOUR_NS == pytest.approx(3_689 / 3.68888, rel=1e-5)


def test_the_mean_is_exact_where_int64_and_floats_end() -> None:
    exposure_ns = 76_000_000_000_000_000_003
    assert mtbf(1, exposure_ns, mean_interval(1)).mean_ns == exposure_ns
    assert mtbf(3, exposure_ns, mean_interval(3)).mean_ns == exposure_ns // 3


@given(st.integers(1, 1_000), st.integers(1, 10**20))
def test_the_interval_holds_the_mean(count: int, exposure_ns: int) -> None:
    found = mtbf(count, exposure_ns, mean_interval(count))
    assert found.mean_ns is not None
    assert found.high_ns is not None
    assert found.low_ns <= found.mean_ns <= found.high_ns


def test_a_rate_is_given_for_a_thousand_nodes_and_a_day() -> None:
    found = per_1000_node_days(5, 500 * 2 * DAY_NS, mean_interval(5))
    assert found.value == 5
    assert found.low == pytest.approx(1.6235, abs=1e-4)
    assert found.high == pytest.approx(11.6683, abs=1e-4)


def test_more_nodes_fail_more_often() -> None:
    assert mtbf_of_nodes(1_000, 2) == DAY_NS // 2
