"""Times between failures: how long they last, and the Weibull shape of them."""

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from analysis.poisson import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

#: Shapes that a fit is looked for between. Real ones lie between 0.3 and 5.
_SHAPES: Final = (0.02, 50.0)


class Weibull(NamedTuple):
    """A Weibull distribution that was fitted.

    A shape below 1 is a hazard that falls with time: failures come in clusters. At 1
    the distribution is exponential.
    """

    shape: float
    low: float
    high: float
    scale: float


class Survival(NamedTuple):
    """Kaplan-Meier's curve: a step at each time between failures.

    Attributes:
        times: Times at which the curve falls, in order.
        at_risk: Gaps that had lasted so long. [1]
        ended: Gaps that ended then. [1]
        share: Share that lasts longer. [1]
        low: Lower end of its 95 % interval; NaN where the curve ends at zero. [1]
        high: Upper end. [1]
    """

    times: "Numbers"
    at_risk: "Numbers"
    ended: "Numbers"
    share: "Numbers"
    low: "Numbers"
    high: "Numbers"


def survival(gaps: "Numbers", censored: "Numbers") -> Survival:
    """Return how many gaps last longer than each time (Kaplan and Meier 1958).

    The interval is Greenwood's on the log-log scale, which stays between 0 and 1.

    Args:
        gaps: Times between failures, at least one.
        censored: Times that no failure has ended yet.
    """
    from scipy.special import ndtri

    times, ended = np.unique(gaps, return_counts=True)
    lasting = np.sort(np.concatenate([gaps, censored]))
    at_risk = lasting.size - np.searchsorted(lasting, times, side="left")
    share = np.cumprod(1 - ended / at_risk).astype(np.float64)
    inside = share > 0
    variance = np.cumsum(ended[inside] / (at_risk[inside] * (at_risk - ended)[inside]))
    spread = float(ndtri((1 + CONFIDENCE) / 2)) * np.sqrt(variance)
    power = np.exp(spread / -np.log(share[inside]))
    low, high = np.full(times.size, np.nan), np.full(times.size, np.nan)
    low[inside], high[inside] = share[inside] ** power, share[inside] ** (1 / power)
    counts = (at_risk.astype(np.float64), ended.astype(np.float64))
    return Survival(times.astype(np.float64), *counts, share, low, high)


def weibull(gaps: "Numbers", censored: "Numbers") -> Weibull | None:
    """Fit a Weibull distribution by maximum likelihood, its interval by the profile.

    Gaps of no length cannot be Weibull, and are left out; count them beside the fit.

    Args:
        gaps: Times between failures.
        censored: Times that no failure has ended yet.

    Returns:
        The fit; None where fewer than two gaps differ.
    """
    from scipy.optimize import brentq, minimize_scalar
    from scipy.special import chdtri

    lasting = gaps[gaps > 0]
    if np.unique(lasting).size <= 1:
        return None
    unit = float(lasting.mean())
    profile = _profile(lasting / unit, censored[censored > 0] / unit)
    best = minimize_scalar(
        lambda log: -profile(np.exp(log)), bounds=np.log(_SHAPES), method="bounded"
    )
    shape = float(np.exp(best.x))
    drop = float(chdtri(1, 1 - CONFIDENCE)) / 2

    def beyond(value: float) -> float:
        return float(profile(value) + best.fun + drop)

    low, high = (
        end if beyond(end) >= 0 else float(brentq(beyond, shape, end))
        for end in _SHAPES
    )
    every = np.concatenate([lasting, censored])
    scale = float((np.sum((every / unit) ** shape) / lasting.size) ** (1 / shape))
    return Weibull(shape, low, high, scale * unit)


def _profile(gaps: "Numbers", censored: "Numbers") -> "Callable[[float], float]":
    """Return the log-likelihood of a shape, its best scale put in."""
    every = np.log(np.concatenate([gaps, censored]))
    logs, count = float(np.log(gaps).sum()), gaps.size

    def value(shape: float) -> float:
        total = float(np.logaddexp.reduce(shape * every))
        likelihood = np.log(shape) - total + np.log(count) - 1
        return float(count * likelihood + (shape - 1) * logs)

    return value
