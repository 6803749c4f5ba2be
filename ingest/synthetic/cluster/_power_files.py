"""Files of the power of a cluster, written a day at a time."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ingest.synthetic.cluster._power_meters import PowerMeters
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.power import PowerRecorder
from ingest.synthetic.cluster.steps import StepWindow
from ingest.synthetic.cluster.write_power import PowerFrames, write_power_parquet
from ingest.synthetic.cluster.write_scrapes import write_scrapes


class PowerFiles:
    """Records the power of days, from the windows of their steps, and writes it."""

    def __init__(
        self,
        folder: Path,
        spool: Path,
        cluster: Cluster,
        days: Sequence[tuple[int, int]],
        interval_ns: int,
    ) -> None:
        """Take what is recorded.

        Args:
            folder: Where files go.
            spool: Folder for samples until a day is there.
            cluster: The cluster.
            days: From when to when each day is, without a gap from the run's beginning.
                [ns]
            interval_ns: Time between two samples of a GPU. [ns]
        """
        self._folder, self._spool = folder, spool
        self._cluster, self._days, self._interval = cluster, days, interval_ns
        starts = [begin for begin, _ in days]
        self._meters = PowerMeters(cluster, starts, interval_ns)
        self._recorder: PowerRecorder | None = None

    def begin(self, number: int) -> None:
        """Record a day by its number, of which all windows are to be taken."""
        self._recorder = PowerRecorder(
            self._cluster, self._days[number], self._spool, self._interval
        )

    def take(self, window: StepWindow) -> None:
        """Go on to the end of a window, of a day that is recorded or is not."""
        self._meters.take(window)
        if self._recorder is not None:
            self._recorder.take(window)

    def end(self, number: int, *, as_text: bool) -> int:
        """Write a day; return its samples. [1]

        Args:
            number: Number of the day.
            as_text: Whether it is added to files as exporters print them, of nodes;
                else it has Parquet files of its own.
        """
        counters = self._meters.before(number, self._days[number][1])
        if self._recorder is None:
            return 0
        frames = PowerFrames(self._cluster, counters)
        recorded, self._recorder = self._recorder.finish(), None
        if as_text:
            return write_scrapes(self._folder, self._cluster, frames, recorded)
        return write_power_parquet(self._folder, frames, recorded)

    def counters(self) -> NDArray[np.int64]:
        """Return what counters of energy show before days; days x GPUs. [mJ]"""
        count = len(self._days)
        found = [self._meters.before(n, self._days[n][1]) for n in range(count)]
        return np.stack(found)
