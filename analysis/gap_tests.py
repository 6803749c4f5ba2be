"""Whether failures come at a constant rate: tests of the times between them."""

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

#: Samples that a test by simulation draws: the least p-value that it can tell is then
#: 0.001, half of what two times 1 in 2,001 is.
SAMPLES: Final = 2_000

#: Seed of the samples, so that equal data give equal numbers.
SEED: Final = 20_260_301

#: Most numbers that are drawn at once: 64 MiB. [1]
_AT_ONCE: Final = 8_000_000


def exponential_p(spacings: "Numbers", seed: int = SEED) -> float:
    """Return the probability of such gaps where failures come at a constant rate. [1]

    Greenwood's statistic (1946), the sum of the squares of the spacings of the time
    observed: large where failures come in clusters, small where they are regular.
    Given their number, failures of a constant rate lie anywhere in that time, so that
    the test is exact: samples of as many spacings tell how large it would be. Twice the
    smaller tail, each with the sample itself counted in.

    Args:
        spacings: Gaps that make up the time observed, the last one censored or not.
        seed: Seed of the samples.
    """
    shares = spacings / spacings.sum()
    found = float(np.sum(shares**2))
    drawn = _greenwood(shares.size, np.random.default_rng(seed))
    above = (1 + int(np.sum(drawn >= found))) / (1 + SAMPLES)
    below = (1 + int(np.sum(drawn <= found))) / (1 + SAMPLES)
    return min(1.0, 2 * min(above, below))


def _greenwood(size: int, random: np.random.Generator) -> "Numbers":
    """Return the statistic of samples of spacings at a constant rate."""
    rows = max(1, _AT_ONCE // size)
    parts = []
    for start in range(0, SAMPLES, rows):
        gaps = random.exponential(size=(min(rows, SAMPLES - start), size))
        shares = gaps / gaps.sum(axis=1, keepdims=True)
        parts.append(np.sum(shares**2, axis=1))
    return np.concatenate(parts)


def trend_p(instants: "Numbers", observed: float) -> float:
    """Return the probability of such a trend where the rate is constant. [1]

    Laplace's test: the mean instant of n failures lies about the middle of the time
    observed, with a variance of observed^2 / 12n.

    Args:
        instants: Time observed before each failure.
        observed: Time observed in all.
    """
    from scipy.special import ndtr

    off = (instants.mean() / observed - 0.5) * np.sqrt(12 * instants.size)
    return float(2 * ndtr(-abs(off)))
