"""Power of single days of a cluster, as rows of `power_samples`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ingest.synthetic.cluster._ahead import ahead
from ingest.synthetic.cluster._power_frame import KEYS, PowerFrames
from ingest.synthetic.cluster._power_meters import Counters
from ingest.synthetic.cluster._power_walk import first_sample_ns, groups_of
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.power import PowerRecorder, Recorded
from ingest.synthetic.cluster.steps import step_windows
from ingest.tables import PowerSamples

#: Columns that are the same in each row; the lake's rows tell their file.
_FIXED: Final = {
    "file_id": "generated",
    "level": "gpu_board",
    "time_quality": "exact",
    "memory_temperature_c": None,
    "series": None,
    "series_count": None,
}


@dataclass(frozen=True, slots=True)
class PowerDay:
    """A day of the power of a cluster, or a part of one.

    Attributes:
        cluster: The cluster.
        span_ns: From when to when it is; the end is not included. [ns]
        interval_ns: Time between two samples of a GPU. [ns]
        counters: What counters of energy show before it. [mJ]
    """

    cluster: Cluster
    span_ns: tuple[int, int]
    interval_ns: int
    counters: Counters

    @property
    def rows(self) -> int:
        """Rows that it has, were no node away. [1]"""
        total = 0
        for number, group in enumerate(groups_of(self.cluster)):
            first = first_sample_ns(self.cluster, number, self.interval_ns)
            low, high = (
                max(-(-(at - first) // self.interval_ns), 0) for at in self.span_ns
            )
            total += (high - low) * (group.gpus.stop - group.gpus.start)
        return total

    def record(self, spool: Path) -> PowerRecorder:
        """Sample it.

        Args:
            spool: Folder for the samples.
        """
        recorder = PowerRecorder(self.cluster, self.span_ns, spool, self.interval_ns)
        for window in ahead(step_windows(self.cluster, *self.span_ns)):
            recorder.take(window)
        return recorder

    def frames(
        self, recorder: PowerRecorder, columns: Sequence[str]
    ) -> Iterator[pl.DataFrame]:
        """Yield its rows, whole GPUs, in the order of host, GPU and time.

        Args:
            recorder: What `record` returned; its samples stay.
            columns: Columns that are wanted.
        """
        frames = PowerFrames(self.cluster, self.counters)
        for recorded in recorder.finish(keep=True):
            for make in frames.makers(recorded):
                yield self._typed(make(), columns)

    def found(
        self, recorder: PowerRecorder, columns: Sequence[str], wanted: pl.Expr | None
    ) -> Iterator[pl.DataFrame]:
        """Yield the rows for which something holds.

        Where host, GPU and time tell, only GPUs are made of which it holds at times.

        Args:
            recorder: What `record` returned; its samples stay.
            columns: Columns that are wanted.
            wanted: What must hold; None: all are wanted.
        """
        roots = () if wanted is None else wanted.meta.root_names()
        needed = list(dict.fromkeys([*columns, *roots]))
        frames = PowerFrames(self.cluster, self.counters)
        for recorded in recorder.finish(keep=True):
            for gpus in frames.blocks(recorded):
                if set(needed) <= set(KEYS):
                    keys = frames.keys(recorded, gpus, needed)
                    yield _filtered(keys, wanted).select(columns)
                    continue
                some = gpus
                if wanted is not None and set(roots) <= set(KEYS):
                    keys = frames.keys(recorded, gpus, KEYS).filter(wanted)
                    some = self._of(recorded, gpus, keys["gpu_uuid"].unique())
                if len(some):
                    rows = self._typed(frames.frame(recorded, some), needed)
                    yield _filtered(rows, wanted).select(columns)

    def _of(
        self, recorded: Recorded, gpus: NDArray[np.intp], names: pl.Series
    ) -> NDArray[np.intp]:
        """Return those of some positions that have one of some names."""
        own = self.cluster.fleet.gpus[recorded.gpus]["gpu_uuid"].gather(gpus)
        found: NDArray[np.intp] = gpus[own.is_in(names.implode()).to_numpy()]
        return found

    def _typed(self, rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
        types = PowerSamples.create_empty().schema
        fixed = _FIXED | {"cluster": self.cluster.scenario.cluster}
        return rows.select(
            (pl.lit(fixed[name], types[name]) if name in fixed else pl.col(name))
            .cast(types[name])
            .alias(name)
            for name in columns
        )


def _filtered(rows: pl.DataFrame, wanted: pl.Expr | None) -> pl.DataFrame:
    return rows if wanted is None else rows.filter(wanted)
