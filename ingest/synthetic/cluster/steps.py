"""Steps of all ranks, window by window, of whole microseconds."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from ingest.synthetic.cluster.calendar import Attempt
from ingest.synthetic.cluster.cluster import Cluster


@dataclass(frozen=True, slots=True)
class StepWindow:
    """Some steps of an attempt, of all ranks: arrays of steps x ranks. [ns]

    Arrays in which all ranks, or all steps, are alike may be views that repeat: they
    are read, never written.

    Attributes:
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

    attempt: Attempt
    first_step: int
    start: npt.NDArray[np.int64]
    duration: npt.NDArray[np.int64]
    compute: npt.NDArray[np.int64]
    communication: npt.NDArray[np.int64]
    wait: npt.NDArray[np.int64]
    data: npt.NDArray[np.int64]
    checkpoint: npt.NDArray[np.int64]

    @property
    def steps(self) -> int:
        """Steps of the window. [1]"""
        return self.start.shape[0]

    @property
    def ranks(self) -> int:
        """Ranks of the run. [1]"""
        return self.start.shape[1]


def step_windows(
    cluster: Cluster, from_ns: int, to_ns: int, window_steps: int = 250
) -> Iterator[StepWindow]:
    """Yield the steps that start in a time, in their order.

    Args:
        cluster: The cluster.
        from_ns: Start of the time. [ns]
        to_ns: End of the time, not included. [ns]
        window_steps: Steps of a window at most. [1]
    """
    raise NotImplementedError(cluster, from_ns, to_ns, window_steps)


def frame_of(window: StepWindow) -> pl.DataFrame:
    """Return the rows of a window as `step_timings` has them, in the order of its key.

    Only file_id is missing.
    """
    raise NotImplementedError(window)
