"""Recorded power as rows of `power_samples`."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ingest.synthetic.cluster._power_events import PowerEvents
from ingest.synthetic.cluster._power_levels import Traits
from ingest.synthetic.cluster._power_marks import GPU_IDLE, IDLE_MHZ
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.power import Recorded

#: GPUs of a frame at most: little memory, and a file that is worth its footer. [1]
MOST_GPUS: Final = 256

#: Rows of a frame at most, as long as it has a node: a day of so many GPUs. [1]
MOST_ROWS: Final = 1 << 20

#: Columns that say of what a row is.
KEYS: Final = ("host", "gpu_uuid", "time_ns")

Integers = NDArray[np.int64]


class PowerFrames:
    """Makes frames of what was recorded of a cluster."""

    def __init__(self, cluster: Cluster, begun_mj: Integers | None = None) -> None:
        """Take the cluster.

        Args:
            cluster: The cluster.
            begun_mj: What the counter of energy of each GPU shows before the first of
                its samples; without, they are sampled from the run's beginning. [mJ]
        """
        self._cluster = cluster
        self._traits = Traits.of(cluster.scenario, cluster.fleet.gpus.height)
        self._begun_mj = self._traits.energy_mj if begun_mj is None else begun_mj
        self._events = PowerEvents(cluster, self._traits)

    def blocks(self, recorded: Recorded) -> Iterator[NDArray[np.intp]]:
        """Yield positions of some GPUs each, by host and GPU; nodes stay whole."""
        per_node = self._cluster.scenario.fleet.gpus_per_node
        most = min(MOST_GPUS, MOST_ROWS // max(len(recorded.times_ns), 1))
        size = max(most // per_node, 1) * per_node
        own = self._cluster.fleet.gpus[recorded.gpus]
        for first in range(0, own.height, size):
            block = own[first : first + size]
            order = block.select(pl.arg_sort_by("host", "gpu_uuid")).to_series()
            yield order.to_numpy().astype(np.intp) + first

    def makers(self, recorded: Recorded) -> Iterator[Callable[[], pl.DataFrame]]:
        """Yield what makes the rows of some GPUs each, by host, GPU and time."""
        for gpus in self.blocks(recorded):
            yield partial(self.frame, recorded, gpus)

    def frame(self, recorded: Recorded, gpus: NDArray[np.intp]) -> pl.DataFrame:
        """Return the rows of GPUs.

        Args:
            recorded: What was recorded.
            gpus: Their positions in it, in the order that is wanted.
        """
        columns = self._columns(recorded, gpus)
        for place, gpu in enumerate(gpus.tolist()):
            self._events.mark(columns, place, recorded, gpu)
        rows = self._keys(recorded, gpus, KEYS)
        values = {name: column.ravel() for name, column in columns.items()}
        return self._seen(rows.with_columns(**values), recorded, gpus)

    def keys(
        self, recorded: Recorded, gpus: NDArray[np.intp], names: Sequence[str]
    ) -> pl.DataFrame:
        """Return some columns of KEYS of the same rows.

        Args:
            recorded: What was recorded.
            gpus: Positions in it.
            names: The columns.
        """
        needed = KEYS if self._events.away(recorded, gpus) else names
        rows = self._keys(recorded, gpus, needed)
        return self._seen(rows, recorded, gpus).select(names)

    def _keys(
        self, recorded: Recorded, gpus: NDArray[np.intp], names: Sequence[str]
    ) -> pl.DataFrame:
        own = self._cluster.fleet.gpus[recorded.gpus]
        times = recorded.times_ns
        places = np.repeat(gpus.astype(np.uint32), len(times))
        return pl.DataFrame(
            {
                name: np.tile(times, len(gpus))
                if name == "time_ns"
                else own[name].gather(places)
                for name in names
            }
        )

    def _seen(
        self, rows: pl.DataFrame, recorded: Recorded, gpus: NDArray[np.intp]
    ) -> pl.DataFrame:
        """Return the rows of nodes while they are there."""
        for host, one in self._events.away(recorded, gpus):
            gone = pl.col("time_ns").is_between(one.down_ns, one.boot_ns, closed="left")
            rows = rows.filter(~((pl.col("host") == host) & gone))
        return rows

    def _columns(
        self, recorded: Recorded, gpus: NDArray[np.intp]
    ) -> dict[str, NDArray[np.generic]]:
        """Return the columns of a healthy fleet, GPUs x times."""
        samples = recorded.read(gpus)
        fleet = self._cluster.scenario.fleet
        places = gpus + recorded.gpus.start
        shape = (len(gpus), len(recorded.times_ns))
        clock = np.where(recorded.idle, IDLE_MHZ, fleet.sm_clock_mhz)
        energy = np.cumsum(samples.energy, axis=1, dtype=np.int64)
        energy += self._begun_mj[places, None]
        temperature = samples.temperature.astype(np.float32)
        return {
            "power_average_w": samples.average / np.float32(10),
            "power_instant_w": samples.instant / np.float32(10),
            "power_limit_w": np.full(shape, fleet.tdp_w, np.float32),
            "energy_mj": energy,
            "temperature_c": temperature,
            "sm_clock_mhz": _same(clock.astype(np.float32), shape),
            "throttle_reasons": _same(recorded.idle * np.int32(GPU_IDLE), shape),
            "throttle_power_ns": _same(self._traits.power_ns[places, None], shape),
            "throttle_thermal_ns": _same(self._traits.thermal_ns[places, None], shape),
            "last_xid": np.zeros(shape, np.int32),
            "utilization_ratio": samples.busy / np.float32(100),
        }


def _same(values: NDArray[np.generic], shape: tuple[int, int]) -> NDArray[np.generic]:
    """Return values repeated to a shape, to be changed in places."""
    return np.broadcast_to(values, shape).copy()
