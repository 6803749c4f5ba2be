"""The interval between saves that costs least, by each published formula."""

from dataclasses import dataclass
from math import exp, inf, isfinite, sqrt
from typing import Final

from ingest.errors import SettingError

#: Below this share of the mean time between interruptions a stall is so short that
#: Lambert's W is read next to its branch point, where an argument near -1/e has no
#: digits left; two terms of its series there are exact to 1e-7. [1]
_SHORT_RATIO: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Costs:
    """What a run pays for its safety.

    Attributes:
        mtbf_s: Mean time between interruptions of the run. [s]
        stall_s: Time that training stands still for one save. [s]
        restart_s: Time to load a checkpoint and to be back at work. [s]
        downtime_s: Time from the interruption until loading begins. [s]
        lag_s: Time from the end of the stall until the save is safe, zero where it
            stalls until then. [s]
    """

    mtbf_s: float
    stall_s: float = 0.0
    restart_s: float = 0.0
    downtime_s: float = 0.0
    lag_s: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what no run can have.

        Raises:
            SettingError: The mean time between interruptions is not above zero, a
                time is negative, or one is not a number.
        """
        times = (self.stall_s, self.restart_s, self.downtime_s, self.lag_s)
        if not (self.mtbf_s > 0 and all(isfinite(one) and one >= 0 for one in times)):
            message = f"checkpoint times must be finite and not negative: {self}"
            raise SettingError(message)


def young(costs: Costs) -> float:
    """Return the best interval to first order: sqrt(2 w M). [s]

    Source: Young, CACM 17(9), 1974.
    """
    return sqrt(2 * costs.stall_s * costs.mtbf_s)


def daly(costs: Costs) -> float:
    """Return Daly's interval of higher order, M where a save takes 2 M or more. [s]

    sqrt(2 w M) (1 + sqrt(w / 2M) / 3 + (w / 2M) / 9) - w.
    Source: Daly, FGCS 22, 2006, equation 37.
    """
    if costs.stall_s >= 2 * costs.mtbf_s:
        return costs.mtbf_s
    half = costs.stall_s / (2 * costs.mtbf_s)
    return young(costs) * (1 + sqrt(half) / 3 + half / 9) - costs.stall_s


def daly_period(costs: Costs) -> float:
    """Return Daly's period to first order: sqrt(2 (M + D + R) w) + w. [s]

    Source: the form that Aupy, Robert and Vivien, 2015, tabulate.
    """
    away = costs.downtime_s + costs.restart_s
    return sqrt(2 * (costs.mtbf_s + away) * costs.stall_s) + costs.stall_s


def rfo(costs: Costs) -> float:
    """Return the period that costs least to first order: sqrt(2 (M - D - R) w). [s]

    It is the minimum of `first_order_waste`. Without meaning, infinite, where a restart
    takes as long as the time between interruptions.
    Source: Aupy, Robert and Vivien, 2015.
    """
    rest = costs.mtbf_s - costs.downtime_s - costs.restart_s
    return sqrt(2 * rest * costs.stall_s) if rest > 0 else inf


def exact_period(costs: Costs) -> float:
    """Return the period that costs least: w + M (1 + W0(-exp(-w / M - 1))). [s]

    It is the minimum of the renewal form, `exact_waste`, at any size of w; neither R
    nor D moves it, as both are paid for each interruption.
    Source: Daly, 2006, and Aupy, Robert and Vivien, 2015, solved with Lambert's W.
    """
    from scipy.special import lambertw

    ratio = costs.stall_s / costs.mtbf_s
    if ratio < _SHORT_RATIO:
        return costs.mtbf_s * (sqrt(2 * ratio) + ratio / 3)
    lambert = float(lambertw(-exp(-ratio - 1)).real)
    return costs.stall_s + costs.mtbf_s * (1 + lambert)


def exact_interval(costs: Costs) -> float:
    """Return the work of the exact period, without the stall. [s]"""
    return max(exact_period(costs) - costs.stall_s, 0.0)


def saxena(costs: Costs, detection_s: float = 0.0) -> float:
    """Return the period of the most availability: w + sqrt(2 (M + R) w + w^2). [s]

    The time away is R and D together. Never shorter than an error goes unseen, as the
    state saved meanwhile may be bad already.
    Source: arXiv 2410.18124: the maximum of (1 - w / P) M / (M + R + P / 2).

    Args:
        costs: What a run pays for its safety.
        detection_s: Time that an error goes unseen. [s]
    """
    stall, away = costs.stall_s, costs.restart_s + costs.downtime_s
    best = stall + sqrt(2 * (costs.mtbf_s + away) * stall + stall**2)
    return max(best, detection_s)
