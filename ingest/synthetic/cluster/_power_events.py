"""What happens to single GPUs and nodes, in the samples of some time."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ingest.synthetic.cluster._power_activity import states
from ingest.synthetic.cluster._power_levels import IDLE, Traits
from ingest.synthetic.cluster._power_marks import Marks, restarted
from ingest.synthetic.cluster._power_samples import Hindrance
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.outages import Outage, outages
from ingest.synthetic.cluster.power import Recorded

#: Kinds of low clocks whose time is counted.
_COUNTED: Final = frozenset({"thermal_cap", "power_cap"})

#: Columns of samples, GPUs x times.
Columns = dict[str, NDArray[np.generic]]


class PowerEvents:
    """Changes columns of GPUs to which something happens, or has happened before."""

    def __init__(self, cluster: Cluster, traits: Traits) -> None:
        """Take the cluster.

        Args:
            cluster: The cluster.
            traits: What tells its GPUs from others.
        """
        self._fleet = cluster.scenario.fleet
        self._hosts = cluster.fleet.hosts
        self._traits = traits
        told = states(cluster.attempts)
        self._since_ns = np.array([state.from_ns for state in told])
        self._is_idle = np.array([state.level == IDLE for state in told])
        self._away = _by_host(cluster)
        self._xids = _by_rank(cluster)

    def mark(self, columns: Columns, place: int, recorded: Recorded, gpu: int) -> None:
        """Change the columns of a GPU.

        Args:
            columns: Columns of a healthy fleet.
            place: Row of the GPU in them.
            recorded: What was recorded.
            gpu: Position of the GPU in it.
        """
        rank = recorded.gpus.start + gpu
        times = recorded.times_ns
        low = [one for one in recorded.hindered if one.gpu == gpu]
        away = self._away.get(rank // self._fleet.gpus_per_node, ())
        boots = [one.boot_ns for one in away]
        if low or boots:
            marks = self._marks(recorded, low)
            if low:
                self._slow(columns, place, marks, (rank, low))
            self._count(columns, place, marks, (rank, low), boots)
            energy = columns["energy_mj"]
            energy[place] = restarted(energy[place], times, boots)
        shown = [*self._xids.get(rank, ()), *((boot_ns, 0) for boot_ns in boots)]
        for at_ns, xid in sorted(shown):
            columns["last_xid"][place, times >= at_ns] = xid

    def away(
        self, recorded: Recorded, gpus: NDArray[np.intp]
    ) -> list[tuple[str, Outage]]:
        """Return the nodes of GPUs that are away at some time of what was recorded."""
        times, per_node = recorded.times_ns, self._fleet.gpus_per_node
        nodes = np.unique((gpus + recorded.gpus.start) // per_node).tolist()
        return [
            (self._hosts[node], one)
            for node in nodes
            for one in self._away.get(node, ())
            if len(times) and one.boot_ns > times[0] and one.down_ns <= times[-1]
        ]

    def _marks(self, recorded: Recorded, low: Sequence[Hindrance]) -> Marks:
        """Return what low clocks leave, from before the first that is counted on."""
        times, idle = recorded.times_ns, recorded.idle
        first_ns, interval_ns = recorded.first_ns, recorded.interval_ns
        begun_ns = [one.from_ns for one in low if one.kind in _COUNTED]
        earlier = np.empty(0, np.int64)
        if begun_ns and len(times):
            skipped = max(-(-(min(begun_ns) - first_ns) // interval_ns) - 1, 0)
            earlier = np.arange(
                first_ns + skipped * interval_ns, int(times[0]), interval_ns
            )
        state = np.searchsorted(self._since_ns, earlier, side="right") - 1
        return Marks(
            np.concatenate([earlier, times]),
            np.concatenate([self._is_idle[state], idle]),
            self._fleet.sm_clock_mhz,
            len(earlier),
        )

    def _slow(
        self,
        columns: Columns,
        place: int,
        marks: Marks,
        of: tuple[int, Sequence[Hindrance]],
    ) -> None:
        rank, low = of
        factor = float(self._traits.factor[rank])
        usual = columns["temperature_c"][place].copy()
        columns["sm_clock_mhz"][place] = marks.clock(low)
        columns["throttle_reasons"][place] = marks.reasons(low)
        columns["power_limit_w"][place] = marks.limit(low, self._fleet.tdp_w, factor)
        columns["temperature_c"][place] = marks.heat(low, usual)

    def _count(
        self,
        columns: Columns,
        place: int,
        marks: Marks,
        of: tuple[int, Sequence[Hindrance]],
        boots_ns: Sequence[int],
    ) -> None:
        """Change the counters of time slowed."""
        rank, low = of
        for name, kind, begun_ns in (
            ("throttle_power_ns", "power_cap", self._traits.power_ns[rank]),
            ("throttle_thermal_ns", "thermal_cap", self._traits.thermal_ns[rank]),
        ):
            columns[name][place] = marks.slowed(kind, low, int(begun_ns), boots_ns)


def _by_host(cluster: Cluster) -> dict[int, list[Outage]]:
    found: dict[int, list[Outage]] = {}
    for one in outages(cluster.attempts):
        found.setdefault(one.host, []).append(one)
    return found


def _by_rank(cluster: Cluster) -> dict[int, list[tuple[int, int]]]:
    """Return when which Xid was printed for a rank's GPU."""
    found: dict[int, list[tuple[int, int]]] = {}
    for attempt in cluster.attempts:
        stop = attempt.stop
        if stop is not None and stop.xid is not None:
            for rank in stop.ranks:
                found.setdefault(rank, []).append((stop.from_ns, stop.xid))
    return found
