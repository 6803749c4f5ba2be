"""How sure a rate of a few events can be: exact intervals of a Poisson count."""

from fractions import Fraction
from typing import Final, NamedTuple

from ingest.times import DAY_NS

#: Share of repetitions whose interval holds the true rate. 95 % is what the field
#: prints (arXiv 2410.21680, figure 7), so that intervals can be laid side by side.
CONFIDENCE: Final = 0.95

#: Node-days that a published rate is given for.
NODE_DAYS: Final = 1000


class MeanInterval(NamedTuple):
    """Ends of the interval of a Poisson count's mean. [1]"""

    low: float
    high: float


class Mtbf(NamedTuple):
    """Mean time between events with the ends of its interval. [ns]

    Without any event there is no mean and no upper end: it is `low` at least.
    """

    mean_ns: int | None
    low_ns: int
    high_ns: int | None


class NodeDayRate(NamedTuple):
    """Events of a thousand nodes in a day, with the ends of the interval. [1]"""

    value: float
    low: float
    high: float


def mean_interval(count: int, confidence: float = CONFIDENCE) -> MeanInterval:
    """Return the exact interval of the mean behind a Poisson count. [1]

    Source: Garwood 1936: [chi2(a/2; 2n)/2, chi2(1 - a/2; 2n + 2)/2]. Half a quantile
    of chi-squared with 2n degrees of freedom is the quantile of a gamma of shape n.

    Args:
        count: Events seen.
        confidence: Share of repetitions whose interval holds the true mean. [1]
    """
    from scipy.special import gammaincinv

    tail = (1 - confidence) / 2
    low = float(gammaincinv(count, tail)) if count else 0.0
    return MeanInterval(low, float(gammaincinv(count + 1, 1 - tail)))


def mtbf(count: int, exposure_ns: int, interval: MeanInterval) -> Mtbf:
    """Return the mean time between events: the time observed over their number. [ns]

    The mean is rounded to the nanosecond and exact at any size of fleet.

    Args:
        count: Events seen.
        exposure_ns: Time observed, more than none. [ns]
        interval: Interval of the count's mean, from `mean_interval`.
    """
    exposure = Fraction(exposure_ns)
    low = round(exposure / Fraction(interval.high))
    if not count:
        return Mtbf(None, low, None)
    return Mtbf(round(exposure / count), low, round(exposure / Fraction(interval.low)))


def per_1000_node_days(
    count: int, node_time_ns: int, interval: MeanInterval
) -> NodeDayRate:
    """Return the rate of a thousand nodes in a day. [1]

    Args:
        count: Events seen.
        node_time_ns: Node-time observed, more than none. [ns]
        interval: Interval of the count's mean, from `mean_interval`.
    """
    scale = NODE_DAYS * DAY_NS / node_time_ns
    return NodeDayRate(count * scale, interval.low * scale, interval.high * scale)


def mtbf_of_nodes(nodes: int, rate: float) -> int:
    """Return how often one of many nodes fails: 1 / (nodes x rate). [ns]

    Source: arXiv 2410.21680, section III: MTTF = 1 / (N_nodes r_f).

    Args:
        nodes: Nodes of a run.
        rate: Failures for 1000 node-days. [1]
    """
    return round(Fraction(NODE_DAYS * DAY_NS) / (nodes * Fraction(rate)))
