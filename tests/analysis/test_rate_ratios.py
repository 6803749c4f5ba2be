"""The exact test of two Poisson rates, against the binomial test and by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from analysis.rate_ratios import rate_ratio

COUNTS = st.integers(0, 300)
TIMES = st.floats(0.1, 1e4)


@given(COUNTS, COUNTS, TIMES, TIMES)
def test_the_interval_is_that_of_the_binomial_share(
    first: int, second: int, first_time: float, second_time: float
) -> None:
    if first + second == 0:
        return
    found = rate_ratio((first, first_time), (second, second_time))
    share = second_time / (first_time + second_time)
    told = binomtest(second, first + second, share).proportion_ci(0.95)
    scale = first_time / second_time
    assert found.low == pytest.approx(told.low / (1 - told.low) * scale, rel=1e-6)
    if first:
        assert found.high is not None
        high = told.high / (1 - told.high) * scale
        assert found.high == pytest.approx(high, rel=1e-6)
        assert found.ratio == pytest.approx(second / first * scale)
    else:
        assert (found.ratio, found.high) == (None, None)


@given(COUNTS, COUNTS, TIMES, TIMES)
def test_the_interval_leaves_1_out_where_the_test_says_so(
    first: int, second: int, first_time: float, second_time: float
) -> None:
    found = rate_ratio((first, first_time), (second, second_time))
    outside = found.low > 1 or (found.high is not None and found.high < 1)
    if abs(found.p_value - 0.05) > 1e-9:
        assert outside is (found.p_value < 0.05)


@given(COUNTS, COUNTS, TIMES, TIMES)
def test_swapping_turns_the_ratio_over(
    first: int, second: int, first_time: float, second_time: float
) -> None:
    one = rate_ratio((first, first_time), (second, second_time))
    other = rate_ratio((second, second_time), (first, first_time))
    assert one.p_value == pytest.approx(other.p_value, abs=1e-9)
    if one.high is not None and other.low:
        assert one.high == pytest.approx(1 / other.low, rel=1e-6)


def test_by_hand() -> None:
    # 0 and 6 in equal times: all six fall into the second half, 2 x (1/2)^6
    found = rate_ratio((0, 1.0), (6, 1.0))
    assert found.p_value == pytest.approx(2 / 64)
    assert (found.ratio, found.high) == (None, None)
    # the share is above (0.025)^(1/6) = 0.5407: the ratio above 1.1774
    assert found.low == pytest.approx(1.1774, abs=1e-4)


def test_nothing_tells_nothing() -> None:
    assert rate_ratio((0, 1.0), (0, 2.0)) == (None, 0.0, None, 1.0)
