"""Power of all GPUs of a cluster, sampled while its steps go by."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ingest.synthetic.cluster._power_activity import Rows
from ingest.synthetic.cluster._power_levels import IDLE
from ingest.synthetic.cluster._power_samples import Hindrance, Samples
from ingest.synthetic.cluster._power_spool import Spool
from ingest.synthetic.cluster._power_walk import Walk, count, first_sample_ns
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.steps import StepWindow, step_windows

#: Usual time between two samples. [ns]
INTERVAL_NS: Final = 15_000_000_000

#: How long before its first sample recording begins: a GPU is then as warm as it is
#: whenever it began, to a millionth of a degree. [ns]
WARM_UP_NS: Final = 900 * 1_000_000_000


@dataclass(frozen=True, slots=True)
class Recorded:
    """All samples of a group of neighbouring GPUs.

    Attributes:
        gpus: Positions in the fleet.
        first_ns: First time that they are sampled at all. [ns]
        interval_ns: Time between two samples. [ns]
        times_ns: Times. [ns]
        idle: Whether no run held the GPUs, at each time.
        read: Reads the samples of some of them, by their positions in the group; GPUs x
            times.
        hindered: Times in which clocks were low.
    """

    gpus: slice
    first_ns: int
    interval_ns: int
    times_ns: NDArray[np.int64]
    idle: NDArray[np.bool_]
    read: Callable[[NDArray[np.intp]], Samples]
    hindered: Sequence[Hindrance]


class PowerRecorder:
    """Samples the power of all GPUs, from the windows of steps in their order.

    What is sampled on a day is the same whether days before it were recorded or not:
    GPUs are sampled at the same times, and recording begins somewhat earlier.
    """

    def __init__(
        self,
        cluster: Cluster,
        span_ns: tuple[int, int],
        spool: Path,
        interval_ns: int = INTERVAL_NS,
    ) -> None:
        """Take what is recorded.

        Args:
            cluster: The cluster.
            span_ns: From when to when; the end is not included. [ns]
            spool: Folder for samples until all are there.
            interval_ns: Time between two samples of a GPU. [ns]
        """
        begun = cluster.scenario.begun_ns
        early = max(begun, span_ns[0] - max(WARM_UP_NS, interval_ns))
        self._span = span_ns
        self._interval = interval_ns
        self._walk = Walk(cluster, early, self._sample)
        self._firsts = tuple(
            first_sample_ns(cluster, number, interval_ns)
            for number in range(len(self._walk.groups))
        )
        spool.mkdir(parents=True, exist_ok=True)
        self._spools = tuple(
            Spool(spool / f"power-{number}.spool", count(group.gpus))
            for number, group in enumerate(self._walk.groups)
        )
        for window in step_windows(cluster, early, span_ns[0]):
            self.take(window)

    def take(self, window: StepWindow) -> None:
        """Sample the time up to the end of a window."""
        self._walk.take(window)

    def finish(self, *, keep: bool = False) -> Iterator[Recorded]:
        """Sample the rest of the time, and yield the samples of each group.

        Args:
            keep: Whether they may be asked for again; else those of a group are gone
                when the next one is asked for.
        """
        self._walk.pass_to(self._span[1])
        self._walk.close()
        for number, group in enumerate(self._walk.groups):
            spool = self._spools[number]
            yield Recorded(
                group.gpus,
                self._firsts[number],
                self._interval,
                spool.times_ns,
                spool.idle,
                spool.read,
                group.hindered,
            )
            if not keep:
                spool.remove()

    def _sample(self, number: int, rows: Rows) -> None:
        group, spool = self._walk.groups[number], self._spools[number]
        times = self._times(rows, self._firsts[number])
        taken = 0
        for samples in group.take(rows, times):
            some = times[taken : taken + len(samples.average)]
            row = np.searchsorted(rows.start[1:-1], some, side="right")
            idle = rows.level[row] == np.float32(IDLE)
            early = int(np.searchsorted(some, self._span[0]))
            spool.add(some[early:], idle[early:], samples.since(early))
            taken += len(some)

    def _times(self, rows: Rows, first_ns: int) -> NDArray[np.int64]:
        """Return the times within rows at which a group is sampled. [ns]"""
        begin, end = int(rows.start[0]), min(int(rows.start[-1]), self._span[1])
        before = max(-(-(begin - first_ns) // self._interval), 0)
        return np.arange(first_ns + before * self._interval, end, self._interval)
