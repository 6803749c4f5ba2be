"""What is expected of a node, and how far rates differ, follows from the counts."""

import numpy as np
import pytest

from analysis.gamma_poisson import Fleet, fleet


def counted(*counts: int) -> Fleet:
    """Nodes that were observed equally long."""
    return fleet(np.array(counts, dtype=np.float64), np.ones(len(counts)))


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((19, 19, 19, 19), [19, 19, 19, 19]),
        ((12, 5, 5, 5), [5, 22 / 3, 22 / 3, 22 / 3]),
        ((5, 0, 0, 0), [0, 5 / 3, 5 / 3, 5 / 3]),
    ],
)
def test_what_others_had_is_expected_of_a_node(
    counts: tuple[int, ...], expected: list[float]
) -> None:
    assert counted(*counts).expected == pytest.approx(expected)


def test_what_is_expected_goes_with_the_time_observed() -> None:
    found = fleet(np.array([3.0, 8.0, 2.0, 0.0]), np.array([1.0, 4.0, 4.0, 2.0]))
    assert found.expected == pytest.approx([1.0, 4 * 5 / 7, 4 * 11 / 7, 2 * 13 / 9])


def test_counts_that_are_alike_tell_of_no_spread() -> None:
    found = counted(19, 19, 19, 19)
    assert (found.variation, found.variation_low) == (0, 0)
    assert found.variation_high == pytest.approx(0.33, abs=0.01)


def test_few_failures_set_a_limit_to_the_spread_and_no_more() -> None:
    found = counted(*[0] * 40, *[1] * 24)
    assert (found.variation, found.variation_low) == (0, 0)
    assert found.variation_high == pytest.approx(0.68, abs=0.01)


def test_too_few_failures_set_no_limit() -> None:
    found = counted(5, 0, 0, 0)
    assert found.variation_low > 0
    assert found.variation_high is None


@pytest.mark.parametrize("shape", [0.5, 1.0, 3.0])
def test_the_spread_that_was_drawn_lies_within_the_interval(shape: float) -> None:
    held = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        rates = 2 * random.gamma(shape, 1 / shape, 64)
        counts = random.poisson(rates).astype(np.float64)
        found = fleet(counts, np.ones(64))
        high = found.variation_high or np.inf
        held += found.variation_low <= shape**-0.5 <= high
    # 95 % of intervals hold it: fewer than 17 of 20 in one of 60 such tests
    assert held >= 17
