"""A run under failures, simulated: what it saves in each time between two of them."""

from typing import TYPE_CHECKING, NamedTuple

from analysis._checkpoint_intervals import Costs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Simulated(NamedTuple):
    """A useful share with the standard error of its simulation. [1]"""

    ratio: float
    error: float


def saved_work(
    gaps_s: "NDArray[np.float64]", interval_s: float, costs: Costs
) -> "NDArray[np.float64]":
    """Return the work that is safe at the end of each time between failures. [s]

    A gap begins when loading does: a restart, then whole periods of work and stall;
    what the failure cut off is lost, and a save that was not yet safe with it.

    Args:
        gaps_s: Times from where loading begins to the next failure. [s]
        interval_s: Useful work between two saves. [s]
        costs: What a run pays for its safety; its MTBF plays no part.
    """
    import numpy as np

    working = np.clip(gaps_s - costs.restart_s - costs.lag_s, 0.0, None)
    return interval_s * np.floor(working / (interval_s + costs.stall_s))


def simulate_ettr(
    interval_s: float, costs: Costs, failures: int, seed: int
) -> Simulated:
    """Draw times between failures and return the useful share of a long run.

    The share is a quotient of sums over independent gaps; its standard error is that of
    the linearised quotient (delta method).

    Args:
        interval_s: Useful work between two saves. [s]
        costs: What a run pays for its safety.
        failures: Times between failures to draw. [1]
        seed: Seed of the draws.
    """
    import numpy as np

    gaps = np.random.default_rng(seed).exponential(costs.mtbf_s, failures)
    useful = saved_work(gaps, interval_s, costs)
    whole = gaps + costs.downtime_s
    ratio = float(useful.sum() / whole.sum())
    scatter = float(np.std(useful - ratio * whole, ddof=1))
    return Simulated(ratio, scatter / float(whole.mean()) / failures**0.5)
