"""The fullest of equal paths that flows are hashed over: its distribution, exactly.

Hashed flows are balls thrown into bins. A Poisson number of flows on each path, given
that they are k together, is the same throw: with F the truncated Poisson law of a path,
P(fullest <= c) = [k flows of m paths under F] / [k flows of m paths], the numerator
being the k-th term of F convolved m times with itself, from its Fourier transform.

Source: Raab and Steger, RANDOM 1998 (the maximum of balls in bins); Corrado, Stat.
Comput. 21, 2011 (exact multinomial maxima from truncated Poisson laws).
"""

from itertools import takewhile
from math import ceil, sqrt
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: What is left of the distribution is not followed further: rounding is about as large.
NEGLIGIBLE: Final = 1e-12

#: Length of the transform in standard deviations of k: what wraps around beyond it is
#: less than exp(-100), whatever the truncation, as F is below the whole law.
_WIDE: Final = 40

#: Values of the maximum times the length of the transform: about a second of work.
_MOST_WORK: Final = 2**23

#: Flows above which the transform is too long.
_MOST_FLOWS: Final = 2**24

#: Paths above which the power of a transform loses digits: 1e6 x 2e-16 in phase.
_MOST_PATHS: Final = 10**6


def is_exact(flows: int, paths: int) -> bool:
    """Return whether the distribution can be had exactly, in about a second.

    Args:
        flows: Flows. [1]
        paths: Equal paths. [1]
    """
    if paths > _MOST_PATHS or flows > _MOST_FLOWS:
        return False
    mean = flows / paths
    values = _WIDE / 4 * sqrt(mean) + _WIDE
    return values * _length(flows) <= _MOST_WORK


def distribution(flows: int, paths: int) -> "tuple[int, NDArray[np.float64]]":
    """Return the least value of the maximum, and P(maximum <= it), of the next, ...

    Args:
        flows: Flows. [1]
        paths: Equal paths. [1]

    Returns:
        The first value and the distribution function from there to where it is 1.
    """
    import numpy as np

    first = ceil(flows / paths)
    law, whole, turn = _transforms(flows, paths)

    def at_most(count: int) -> float:
        kept = law[: count + 1]
        folded = np.bincount(np.arange(kept.size) % turn.size, kept, turn.size)
        power = np.fft.fft(folded) ** paths
        return float((power * turn).mean().real) / whole

    below = takewhile(
        lambda one: one < 1 - NEGLIGIBLE, map(at_most, range(first, law.size))
    )
    found = np.clip(np.array([*below, 1.0]), 0.0, 1.0)
    return first, np.maximum.accumulate(found)


def _transforms(
    flows: int, paths: int
) -> "tuple[NDArray[np.float64], float, NDArray[np.complex128]]":
    """Return the law of one path, P(k in all), and the turn that picks the k-th."""
    import numpy as np
    from scipy.special import gammaln

    mean, length = flows / paths, _length(flows)
    counts = np.arange(min(flows, ceil(mean + _WIDE * sqrt(mean) + 4 * _WIDE)) + 1)
    law = np.exp(counts * np.log(mean) - mean - gammaln(counts + 1))
    whole = float(np.exp(flows * np.log(flows) - flows - gammaln(flows + 1)))
    steps = np.arange(length) * (flows % length) % length
    return law, whole, np.exp(2j * np.pi * steps / length)


def _length(flows: int) -> int:
    """Return the length of the transform, a power of two. [1]"""
    return 1 << ceil(_WIDE * sqrt(flows) + 4 * _WIDE).bit_length()
