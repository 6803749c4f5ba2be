"""Which steps of an attempt a fault is at, and how bad it is in each."""

import numpy as np

from ingest.synthetic.cluster._draws import draws
from ingest.synthetic.cluster._felt import Ints, Touch
from ingest.synthetic.cluster._opened import Opened
from ingest.synthetic.cluster._work import SECOND_US, Floats, Work
from ingest.synthetic.cluster.faults import PlacedFault


def touch(work: Work, fault: PlacedFault, opened: Opened, start: Ints) -> Touch:
    """Return the steps of an attempt that begin while a fault is there.

    Args:
        work: Own work of the ranks.
        fault: A fault that makes steps longer.
        opened: The attempt.
        start: Start of each step, since the first began. [us]
    """
    low, high = _range(fault, opened, start)
    columns = tuple(np.searchsorted(work.watched, fault.ranks).tolist())
    level = _level(work, fault, opened.number, high - low)
    return Touch(fault.number, fault.kind, columns, low, level)


def _range(fault: PlacedFault, opened: Opened, start: Ints) -> tuple[int, int]:
    if fault.from_step is not None:
        first = fault.from_step - opened.first_step
        bounds = (first, first + (fault.steps or 0))
        low, high = (min(max(one, 0), len(start)) for one in bounds)
        return low, high
    since = [(at - opened.begin_ns) // 1_000 for at in (fault.from_ns, fault.to_ns)]
    low, high = (int(one) for one in np.searchsorted(start, since))
    return low, high


def _level(work: Work, fault: PlacedFault, attempt: int, steps: int) -> Floats:
    """Return how bad a fault is in each step: flows collide anew in each of them."""
    if not steps:
        return np.zeros(0)
    draw = draws(work.scenario.seed, "levels", attempt, fault.draw)
    even = draw.random(steps)
    if fault.kind == "flow_collision":
        return 1 + (fault.severity - 1) * 2 * even
    if fault.kind == "data_stall":
        return fault.severity * SECOND_US * (0.5 + even)
    return np.full(steps, fault.severity)
