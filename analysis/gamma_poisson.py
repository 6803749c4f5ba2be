"""A fleet whose nodes fail at rates of their own: how many failures one may have."""

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

#: Shapes of the gamma distribution of rates that are weighed. At 0.1 a few nodes have
#: nearly all failures, at 100 all nodes are alike (their rates spread by 10 %).
_SHAPES: Final = np.exp(np.linspace(np.log(0.1), np.log(100.0), 25))

#: Mean rates that are weighed for each shape, in its standard errors.
_ERRORS: Final = np.linspace(-3.0, 3.0, 9)

#: How far the log-likelihood of a spread may lie below the best: half of chi-squared's
#: 95 % point with one degree of freedom (Wilks 1938). [1]
_COMPATIBLE: Final = 1.92

#: Spreads that are told apart between those of the least and the most shape.
_SPREADS: Final = 2_001

#: Most numbers that are weighed at once: 64 MiB. [1]
_AT_ONCE: Final = 8_000_000


class Fleet(NamedTuple):
    """What a fleet's other nodes say about each of its nodes.

    Attributes:
        expected: Failures of all other nodes over their time, times its own. [1]
        p_value: Probability that a node of such a fleet has so many, or more. [1]
        equal_p_value: The same if all nodes were alike: the failures of the fleet are
            dealt out by time alone. [1]
        variation: Spread of the nodes' rates over their mean that fits best. [1]
        variation_low: Least that is compatible (95 %); 0: all may be alike. [1]
        variation_high: Most that is; None where the counts set no limit. [1]
    """

    expected: "Numbers"
    p_value: "Numbers"
    equal_p_value: "Numbers"
    variation: float
    variation_low: float
    variation_high: float | None


def fleet(counts: "Numbers", exposures: "Numbers") -> Fleet:
    """Hold each node against the rate of all others.

    Rates of nodes are gamma distributed and failures Poisson (Greenwood and Yule 1920).
    The others' failures weigh every shape and mean rate of that gamma, so that a small
    or quiet fleet, which says little about its spread, accuses nobody. Before them, the
    squared spread of rates (1 / shape) and the logarithm of the mean rate are taken as
    equally likely anywhere.

    Args:
        counts: Failures of each node, one at least in all.
        exposures: Time that each was observed, more than none, in any unit.
    """
    from scipy.stats import binom

    pairs, place, times = np.unique(
        np.stack([counts, exposures]), axis=1, return_inverse=True, return_counts=True
    )
    told = [_against(part, pairs, times) for part in _parts(pairs.shape[1])]
    p_value = np.concatenate(told)
    share = exposures / exposures.sum()
    best, low, high = _variation(pairs, times)
    return Fleet(
        expected=_by_others(counts, exposures),
        p_value=p_value[place.reshape(-1)],
        equal_p_value=binom.sf(counts - 1, counts.sum(), share),
        variation=best,
        variation_low=low,
        variation_high=high,
    )


def _by_others(counts: "Numbers", exposures: "Numbers") -> "Numbers":
    """Return the failures of all others over their time, times the node's own."""
    others = exposures.sum() - exposures
    rate = (counts.sum() - counts) / np.where(others > 0, others, np.inf)
    found: Numbers = rate * exposures
    return found


def _parts(size: int) -> list[slice]:
    rows = max(1, _AT_ONCE // (_SHAPES.size * _ERRORS.size))
    return [slice(start, min(start + rows, size)) for start in range(0, size, rows)]


def _rates(pairs: "Numbers", times: "NDArray[np.int64]") -> "Numbers":
    """Return the mean rates that are weighed, for each shape (rows)."""
    count, observed = (float((row * times).sum()) for row in pairs)
    error = np.sqrt(1 / count + 1 / (_SHAPES * times.sum()))
    return (count / observed) * np.exp(np.outer(error, _ERRORS))


def _likelihood(pairs: "Numbers", rates: "Numbers") -> "Numbers":
    """Return the log-likelihood of nodes, by shape, mean rate and node."""
    from scipy.special import gammaln

    shape, (count, observed) = _SHAPES[:, None, None], pairs
    mean = rates[:, :, None] * observed
    ways = gammaln(count + shape) - gammaln(shape) - gammaln(count + 1)
    none = shape * np.log(shape / (shape + mean))
    found: Numbers = ways + none + count * np.log(mean / (shape + mean))
    return found


def _prior(rates: "Numbers") -> "Numbers":
    """Return the log-weight of each shape and mean rate before any failure."""
    step = np.log(rates[:, 1] / rates[:, 0])
    return (np.log(step) - np.log(_SHAPES))[:, None]


def _fit(pairs: "Numbers", times: "NDArray[np.int64]", rates: "Numbers") -> "Numbers":
    """Return the log-likelihood of each shape and mean rate by all failures."""
    fit = np.zeros_like(rates)
    for part in _parts(pairs.shape[1]):
        fit += (_likelihood(pairs[:, part], rates) * times[part]).sum(axis=-1)
    return fit


def _against(part: slice, pairs: "Numbers", times: "NDArray[np.int64]") -> "Numbers":
    """Return how likely the counts of nodes are by what all others say."""
    from scipy.special import betainc

    rates = _rates(pairs, times)
    count, observed = pairs[:, part]
    others = (_fit(pairs, times, rates) + _prior(rates))[:, :, None]
    logs = others - _likelihood(pairs[:, part], rates)
    weights = np.exp(logs - logs.max(axis=(0, 1)))
    weights /= weights.sum(axis=(0, 1))
    mean = rates[:, :, None] * observed
    shape = _SHAPES[:, None, None]
    tail = betainc(np.maximum(count, 1), shape, mean / (shape + mean))
    above = np.where(count > 0, tail, 1.0)
    found: Numbers = (weights * above).sum(axis=(0, 1))
    return found


def _variation(
    pairs: "Numbers", times: "NDArray[np.int64]"
) -> tuple[float, float, float | None]:
    """Return the spread of rates over their mean that fits all nodes best. [1]

    The least and the most that are compatible (95 %) follow it: by the likelihood
    alone, so that a fleet which says little says so. At the least spread that is
    weighed all nodes are alike; at the most there is no limit.
    """
    from scipy.interpolate import CubicSpline

    fit = _fit(pairs, times, _rates(pairs, times)).max(axis=1)
    logs = np.linspace(np.log(_SHAPES[0]), np.log(_SHAPES[-1]), _SPREADS)
    smooth = CubicSpline(np.log(_SHAPES), fit)(logs)
    spreads = np.exp(-logs / 2)
    fits = np.flatnonzero(smooth >= smooth.max() - _COMPATIBLE)
    best, most = int(smooth.argmax()), _SPREADS - 1
    low = 0.0 if fits[-1] == most else float(spreads[fits[-1]])
    high = None if fits[0] == 0 else float(spreads[fits[0]])
    return (0.0 if best == most else float(spreads[best])), low, high
