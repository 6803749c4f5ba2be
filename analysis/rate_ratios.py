"""Whether two Poisson rates differ: an exact conditional test."""

from typing import Final, NamedTuple

from analysis.poisson import CONFIDENCE

#: Both tails count: a rate may have risen or fallen.
_TAILS: Final = 2


class RateRatio(NamedTuple):
    """Second rate over first, with the ends of its interval. [1]

    Without any event there is no ratio. Where the first count is zero there is no
    upper end and no ratio; where the second is, the lower end is zero.
    """

    ratio: float | None
    low: float
    high: float | None
    p_value: float


def rate_ratio(
    first: tuple[int, float],
    second: tuple[int, float],
    confidence: float = CONFIDENCE,
) -> RateRatio:
    """Compare two rates by their counts and the time in which they were counted.

    Given both counts together, the second is binomial, and its share tells the ratio
    (Przyborowski and Wilenski 1940). The interval is that of Clopper and Pearson
    (1934), the p-value twice the smaller tail, so that both agree: the interval
    leaves 1 out where the p-value is below 1 - confidence.

    Args:
        first: Events and the time observed, more than none, in any unit.
        second: Events and the time observed, in the same unit.
        confidence: Share of repetitions whose interval holds the true ratio. [1]
    """
    (before, before_time), (after, after_time) = first, second
    share = after_time / (before_time + after_time)
    scale = before_time / after_time
    low, high = _share_interval(after, before + after, 1 - confidence)
    ratio = after / before * scale if before else None
    return RateRatio(
        ratio=ratio,
        low=low / (1 - low) * scale if after else 0.0,
        high=high / (1 - high) * scale if before else None,
        p_value=_p_value(after, before + after, share),
    )


def _share_interval(count: int, total: int, missed: float) -> tuple[float, float]:
    """Return the interval of a binomial share (Clopper and Pearson 1934). [1]"""
    from scipy.special import betaincinv

    tail = missed / _TAILS
    other = total - count
    low = float(betaincinv(count, other + 1, tail)) if count else 0.0
    high = float(betaincinv(count + 1, other, 1 - tail)) if other else 1.0
    return low, high


def _p_value(count: int, total: int, share: float) -> float:
    """Return twice the smaller tail of a binomial count. [1]"""
    from scipy.stats import binom

    below = float(binom.cdf(count, total, share))
    above = float(binom.sf(count - 1, total, share))
    return min(1.0, _TAILS * min(below, above))
