"""Published failure rates, made again from their counts."""

import pytest
from scipy.stats import chi2

from analysis.published_rates import PUBLISHED


@pytest.mark.parametrize(
    ("label", "events", "node_days"),
    [("Llama 3, H100", 419, 2048 * 54), ("InfiniteHBD trace", 584, 400 * 348)],
)
def test_rate_and_interval_follow_from_the_counts(
    label: str, events: int, node_days: int
) -> None:
    one = next(rate for rate in PUBLISHED if rate.label == label)
    exposure = node_days / 1000
    assert one.rate == pytest.approx(events / exposure, abs=0.005)
    assert one.low == pytest.approx(
        chi2.ppf(0.025, 2 * events) / 2 / exposure, abs=0.01
    )
    assert one.high == pytest.approx(
        chi2.ppf(0.975, 2 * events + 2) / 2 / exposure, abs=0.01
    )


def test_they_stand_in_the_order_of_their_rates() -> None:
    rates = [one.rate for one in PUBLISHED]
    assert rates == sorted(rates, reverse=True) == [6.50, 4.20, 3.79, 2.34]
