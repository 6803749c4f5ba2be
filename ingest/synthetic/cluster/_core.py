"""Own work of all ranks of some steps."""

from typing import Final

import numpy as np
import numpy.typing as npt

from ingest.synthetic.cluster._draws import BLOCK_STEPS, draws
from ingest.synthetic.cluster._felt import Felt, Ints
from ingest.synthetic.cluster._raw_steps import replica_lengths
from ingest.synthetic.cluster._work import Work, mixture
from ingest.synthetic.cluster.calendar import Attempt

_US: Final = 1_000

_Small = npt.NDArray[np.float32]


def core_work(
    work: Work, attempt: Attempt, felt: Felt, bounds: tuple[int, int]
) -> Ints:
    """Return the own work of all ranks in some steps of an attempt. [ns]

    The clock knows the longest work of those that are not watched: it is that of the
    one whose draw is the longest, and none is longer. So a step has one length, whether
    all its ranks are drawn or none.

    Args:
        work: Own work of the ranks.
        attempt: The attempt.
        felt: What its steps took.
        bounds: First step and the one behind the last, counted from the attempt's
            first.
    """
    low, high = bounds
    found = np.empty((high - low, work.scenario.ranks), dtype=np.int64)
    lengths = replica_lengths(work, attempt.number, high)
    for block in range(low // BLOCK_STEPS, -(-high // BLOCK_STEPS)):
        begin = max(block * BLOCK_STEPS, low)
        end = min((block + 1) * BLOCK_STEPS, high)
        drawn = _drawn(work, attempt, block, (begin, end))
        if lengths.shape[1]:
            drawn *= lengths[begin:end, work.replica].astype(np.float32)
        _settle(work, felt, drawn, (begin, end), found[begin - low : end - low])
    return found


def _drawn(work: Work, attempt: Attempt, block: int, bounds: tuple[int, int]) -> _Small:
    """Draw the work of all ranks in steps of a block. [us]

    The step before a block is drawn anew in it: there, and only there, a step does not
    resemble the one before.
    """
    scenario = work.scenario
    shape = (BLOCK_STEPS + 1, scenario.ranks)
    draw = draws(scenario.seed, "core", attempt.number, block)
    fresh = draw.standard_normal(shape, dtype=np.float32)
    low, high = (step - block * BLOCK_STEPS for step in bounds)
    first, second = (np.float32(one) for one in mixture(scenario.noise.autocorrelation))
    drawn = fresh[low + 1 : high + 1]
    if second:
        drawn = drawn * first
        drawn += second * fresh[low:high]
    base = work.base_us
    drawn *= (base * work.spread).astype(np.float32)
    drawn += base.astype(np.float32)
    drawn *= attempt.clock.common[slice(*bounds), None].astype(np.float32)
    return drawn


def _settle(
    work: Work, felt: Felt, drawn: _Small, bounds: tuple[int, int], found: Ints
) -> None:
    """Write work in ns: that drawn, the longest, the watched and those that pause."""
    columns = list(work.watched)
    first, last = np.searchsorted(felt.paused.step, bounds)
    cells = felt.paused.step[first:last] - bounds[0], felt.paused.rank[first:last]
    drawn[:, columns] = -1
    drawn[cells] = -1
    rows = slice(*bounds)
    top = drawn.argmax(1)
    whole = drawn.astype(np.int32)
    healthy = felt.healthy[rows].astype(np.int32)
    np.minimum(whole, healthy[:, None], out=whole)
    whole[np.arange(len(top)), top] = healthy
    np.multiply(whole, _US, out=found, dtype=np.int64)
    found[:, columns] = felt.watched[rows] * _US
    found[cells] = felt.paused_work[first:last] * _US
