"""Recorded power as rows of `power_samples`."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ingest.synthetic.cluster._power_levels import Traits
from ingest.synthetic.cluster._power_marks import GPU_IDLE, IDLE_MHZ, Marks, restarted
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.outages import Outage, outages
from ingest.synthetic.cluster.power import Recorded

#: GPUs of a frame at most: little memory, and a file that is worth its footer. [1]
MOST_GPUS: Final = 256

#: Rows of a frame at most, as long as it has a node: a day of so many GPUs. [1]
MOST_ROWS: Final = 1 << 21

Integers = NDArray[np.int64]


class PowerFrames:
    """Makes frames of what was recorded of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        """Take the cluster."""
        self._cluster = cluster
        self._traits = Traits.of(cluster.scenario, cluster.fleet.gpus.height)
        self._away = self._by_host()
        self._xids = self._by_rank()

    def makers(self, recorded: Recorded) -> Iterator[Callable[[], pl.DataFrame]]:
        """Yield what makes the rows of some GPUs each, by host, GPU and time."""
        most = min(MOST_GPUS, MOST_ROWS // max(len(recorded.times_ns), 1))
        size = max(most // self._per_node, 1) * self._per_node
        count = recorded.gpus.stop - recorded.gpus.start
        for first in range(0, count, size):
            yield partial(self._frame, recorded, first, min(first + size, count))

    def _frame(self, recorded: Recorded, first: int, last: int) -> pl.DataFrame:
        """Return the rows of GPUs by their positions in what was recorded."""
        block = slice(recorded.gpus.start + first, recorded.gpus.start + last)
        own = self._cluster.fleet.gpus[block]
        order = own.select(pl.arg_sort_by("host", "gpu_uuid")).to_series().to_numpy()
        columns = self._columns(recorded, order + first)
        for place, local in enumerate(order.tolist()):
            self._mark(columns, place, recorded, first + local)
        times = recorded.times_ns
        flat = {name: column.ravel() for name, column in columns.items()}
        frame = pl.DataFrame(
            {
                "host": _repeated(own["host"], order, len(times)),
                "gpu_uuid": _repeated(own["gpu_uuid"], order, len(times)),
                "time_ns": np.tile(times, len(order)),
                **flat,
            }
        )
        return self._seen(frame, own["host"].unique())

    @property
    def _per_node(self) -> int:
        return self._cluster.scenario.fleet.gpus_per_node

    def _columns(
        self, recorded: Recorded, gpus: NDArray[np.intp]
    ) -> dict[str, NDArray[np.generic]]:
        """Return the columns of a healthy fleet, GPUs x times."""
        samples = recorded.samples
        fleet = self._cluster.scenario.fleet
        places = gpus + recorded.gpus.start
        shape = (len(gpus), len(recorded.times_ns))
        clock = np.where(recorded.idle, IDLE_MHZ, fleet.sm_clock_mhz)
        energy = np.cumsum(samples.energy[gpus], axis=1, dtype=np.int64)
        energy += self._traits.energy_mj[places, None]
        temperature = samples.temperature[gpus].astype(np.float32)
        return {
            "power_average_w": samples.average[gpus] / np.float32(10),
            "power_instant_w": samples.instant[gpus] / np.float32(10),
            "power_limit_w": np.full(shape, fleet.tdp_w, np.float32),
            "energy_mj": energy,
            "temperature_c": temperature,
            "sm_clock_mhz": _same(clock.astype(np.float32), shape),
            "throttle_reasons": _same(recorded.idle * np.int32(GPU_IDLE), shape),
            "throttle_power_ns": _same(self._traits.power_ns[places, None], shape),
            "throttle_thermal_ns": _same(self._traits.thermal_ns[places, None], shape),
            "last_xid": np.zeros(shape, np.int32),
            "utilization_ratio": samples.busy[gpus] / np.float32(100),
        }

    def _mark(
        self,
        columns: dict[str, NDArray[np.generic]],
        place: int,
        recorded: Recorded,
        gpu: int,
    ) -> None:
        """Change the columns of a GPU to which something happens."""
        rank = recorded.gpus.start + gpu
        times = recorded.times_ns
        fleet = self._cluster.scenario.fleet
        low = [one for one in recorded.hindered if one.gpu == gpu]
        away = self._away.get(rank // self._per_node, ())
        if low:
            marks = Marks(times, recorded.idle, fleet.sm_clock_mhz)
            heat = marks.heat(low, recorded.samples.temperature[gpu])
            power_ns = int(self._traits.power_ns[rank])
            thermal_ns = int(self._traits.thermal_ns[rank])
            columns["sm_clock_mhz"][place] = marks.clock(low)
            columns["throttle_reasons"][place] = marks.reasons(low)
            columns["throttle_power_ns"][place] = marks.slowed(
                "power_cap", low, power_ns
            )
            columns["throttle_thermal_ns"][place] = marks.slowed(
                "thermal_cap", low, thermal_ns
            )
            columns["power_limit_w"][place] = marks.limit(
                low, fleet.tdp_w, float(self._traits.factor[rank])
            )
            columns["temperature_c"][place] = heat
        for at_ns, xid in self._xids.get(rank, ()):
            columns["last_xid"][place, times >= at_ns] = xid
        for one in away:
            columns["last_xid"][place, times >= one.boot_ns] = 0
        boots = [one.boot_ns for one in away]
        for name in ("energy_mj", "throttle_power_ns", "throttle_thermal_ns"):
            if boots:
                columns[name][place] = restarted(columns[name][place], times, boots)

    def _seen(self, frame: pl.DataFrame, hosts: pl.Series) -> pl.DataFrame:
        """Return the rows of nodes while they are there."""
        for host in hosts:
            for one in self._away.get(self._cluster.fleet.hosts.index(host), ()):
                gone = pl.col("time_ns").is_between(
                    one.down_ns, one.boot_ns, closed="left"
                )
                frame = frame.filter(~((pl.col("host") == host) & gone))
        return frame

    def _by_host(self) -> dict[int, list[Outage]]:
        found: dict[int, list[Outage]] = {}
        for one in outages(self._cluster.attempts):
            found.setdefault(one.host, []).append(one)
        return found

    def _by_rank(self) -> dict[int, list[tuple[int, int]]]:
        """Return when which Xid was printed for a rank's GPU."""
        found: dict[int, list[tuple[int, int]]] = {}
        for attempt in self._cluster.attempts:
            stop = attempt.stop
            if stop is not None and stop.xid is not None:
                for rank in stop.ranks:
                    found.setdefault(rank, []).append((stop.from_ns, stop.xid))
        return found


def _repeated(names: pl.Series, order: NDArray[np.intp], times: int) -> pl.Series:
    """Return names in an order, each as often as there are times."""
    places = np.repeat(order.astype(np.uint32), times)
    return names.cast(pl.Categorical).gather(places)


def _same(values: NDArray[np.generic], shape: tuple[int, int]) -> NDArray[np.generic]:
    """Return values repeated to a shape, to be changed in places."""
    return np.broadcast_to(values, shape).copy()
