"""Steps of all ranks, window by window, of whole microseconds."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from ingest.synthetic.cluster._core import core_work
from ingest.synthetic.cluster._draws import BLOCK_STEPS
from ingest.synthetic.cluster._felt import Felt, Ints, feel
from ingest.synthetic.cluster._raw_steps import raw_steps
from ingest.synthetic.cluster._step_frames import frame_of
from ingest.synthetic.cluster.calendar import Attempt
from ingest.synthetic.cluster.cluster import Cluster

__all__ = ["StepWindow", "frame_of", "step_windows", "steps_within"]

#: Steps of a window at most, and its rows about: those of 16,384 ranks. [1]
WINDOW_STEPS: Final = 250
WINDOW_ROWS: Final = 4_096_000

_US: Final = 1_000


@dataclass(frozen=True, slots=True)
class StepWindow:
    """Some steps of an attempt, of all ranks: arrays of steps x ranks. [ns]

    Arrays in which all ranks are alike may be views that repeat: they are read, never
    written.

    Attributes:
        run_id: Run.
        attempt: The attempt.
        first_step: Number of the first step.
        start: Start, since the epoch.
        duration: Wall time.
        compute: Own work.
        communication: Time of communication.
        wait: What the slowest makes a rank wait.
        data: Time that the step waits for its input.
        checkpoint: Time that the step waits for a checkpoint.
    """

    run_id: str
    attempt: Attempt
    first_step: int
    start: Ints
    duration: Ints
    compute: Ints
    communication: Ints
    wait: Ints
    data: Ints
    checkpoint: Ints

    @property
    def steps(self) -> int:
        """Steps of the window. [1]"""
        return len(self.start)

    @property
    def ranks(self) -> int:
        """Ranks of the run. [1]"""
        return len(self.start[0])

    @property
    def is_kept(self) -> npt.NDArray[np.bool_]:
        """Whether each step was never done again."""
        at = self.first_step - self.attempt.first_step + np.arange(self.steps)
        return at < self.attempt.kept


def step_windows(
    cluster: Cluster,
    from_ns: int,
    to_ns: int,
    window_steps: int | None = None,
    bounds: tuple[int, int] | None = None,
) -> Iterator[StepWindow]:
    """Yield the steps that start in a time, in their order.

    What a step is like does not depend on the windows that are asked for.

    Args:
        cluster: The cluster.
        from_ns: Start of the time. [ns]
        to_ns: End of the time, not included. [ns]
        window_steps: Steps of a window at most: some blocks of draws, or it is slow;
            without, as many as memory has room for. [1]
        bounds: First and last step that are wanted; all without.
    """
    for attempt in cluster.attempts:
        low, high = steps_within(attempt, from_ns, to_ns)
        if bounds is not None:
            low = max(low, bounds[0] - attempt.first_step)
            high = min(high, bounds[1] + 1 - attempt.first_step)
        if low >= high:
            continue
        felt = felt_of(cluster, attempt)
        size = window_steps or usual_window(cluster.scenario.ranks)
        # cut where blocks of draws are cut, which are drawn as a whole
        edges = range((low // size + 1) * size, high, size)
        for one in pairwise([low, *edges, high]):
            yield _window(cluster, attempt, felt, one)


def usual_window(ranks: int) -> int:
    """Return the steps of a window of some ranks: whole blocks of draws. [1]"""
    blocks = min(WINDOW_ROWS // ranks, WINDOW_STEPS) // BLOCK_STEPS
    return max(blocks, 1) * BLOCK_STEPS


def steps_within(attempt: Attempt, from_ns: int, to_ns: int) -> tuple[int, int]:
    """Return the first step of an attempt that starts in a time, and that after it.

    They are counted from the attempt's own first step.
    """
    since = [-(-(at - attempt.begin_ns) // _US) for at in (from_ns, to_ns)]
    low, high = (int(one) for one in np.searchsorted(attempt.clock.start, since))
    return low, high


def felt_of(cluster: Cluster, attempt: Attempt) -> Felt:
    """Return what the steps of an attempt took, as its clock has them."""
    raw = raw_steps(cluster.work, attempt.number, attempt.steps)
    clock = attempt.clock
    return feel(cluster.work, raw, clock.common, clock.touches, attempt.first_step)


def _window(
    cluster: Cluster, attempt: Attempt, felt: Felt, bounds: tuple[int, int]
) -> StepWindow:
    rows, clock = slice(*bounds), attempt.clock
    ranks, columns = cluster.scenario.ranks, list(cluster.work.watched)
    compute = core_work(cluster.work, attempt, felt, bounds)
    data = clock.data[rows]
    lag = clock.arrived[rows] - data + clock.slowest_link[rows]
    lag -= clock.communication[rows]
    wait = lag[:, None] * _US - compute
    late, far = felt.watched_data[rows] * _US, felt.watched_communication[rows] * _US
    wait[:, columns] -= late + far
    start = attempt.begin_ns + clock.start[rows] * _US
    return StepWindow(
        run_id=cluster.scenario.run_id,
        attempt=attempt,
        first_step=attempt.first_step + bounds[0],
        start=_alike(start, ranks),
        duration=_alike(clock.duration[rows] * _US, ranks),
        compute=compute,
        communication=_most_alike(clock.communication[rows] * _US, ranks, columns, far),
        wait=wait,
        data=_most_alike(data * _US, ranks, columns, late),
        checkpoint=_alike(clock.checkpoint[rows] * _US, ranks),
    )


def _alike(values: Ints, ranks: int) -> Ints:
    """Return a row of a value for all ranks, without copying it."""
    return np.broadcast_to(values[:, None], (len(values), ranks))


def _most_alike(values: Ints, ranks: int, columns: list[int], more: Ints) -> Ints:
    """Return the same, but for what some ranks have more."""
    if not more.any():
        return _alike(values, ranks)
    found = np.repeat(values[:, None], ranks, axis=1)
    found[:, columns] += more
    return found
