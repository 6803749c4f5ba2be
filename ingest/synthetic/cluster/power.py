"""Power of all GPUs of a cluster, sampled while its steps go by."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ingest.synthetic.cluster._power_activity import (
    Rows,
    between,
    states,
    steps,
    without_run,
)
from ingest.synthetic.cluster._power_group import (
    MOST_GPUS,
    Group,
    Hindrance,
    Samples,
)
from ingest.synthetic.cluster._power_levels import IDLE, Traits, noise
from ingest.synthetic.cluster._power_spool import Spool
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.steps import StepWindow

#: Usual time between two samples. [ns]
INTERVAL_NS: Final = 15_000_000_000

#: Groups of GPUs are sampled one after the other: this share of an interval later, so
#: that neighbours are far apart. [1]
_TURN: Final = 0.618

#: Groups that are sampled at once.
_THREADS: Final = 2

#: Kinds of faults that lower a clock.
_LOW_CLOCK: Final = frozenset({"slow_gpu", "thermal_cap", "power_cap"})

_MS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Recorded:
    """All samples of a group of neighbouring GPUs; GPUs x times.

    Attributes:
        gpus: Positions in the fleet.
        times_ns: Times. [ns]
        idle: Whether no run held the GPUs, at each time.
        samples: The samples.
        hindered: Times in which clocks were low.
    """

    gpus: slice
    times_ns: NDArray[np.int64]
    idle: NDArray[np.bool_]
    samples: Samples
    hindered: Sequence[Hindrance]


class PowerRecorder:
    """Samples the power of all GPUs, from the windows of steps in their order."""

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
        self._cluster = cluster
        self._span = span_ns
        self._interval = interval_ns
        self._at = span_ns[0]
        self._states = states(cluster.attempts)
        self._groups = tuple(_groups(cluster))
        spool.mkdir(parents=True, exist_ok=True)
        self._spools = tuple(
            Spool(spool / f"power-{number}.spool", _count(group.gpus))
            for number, group in enumerate(self._groups)
        )

    def take(self, window: StepWindow) -> None:
        """Sample the time up to the end of a window."""
        rows = steps(window)
        self._pass_to(int(rows.start[0]))
        self._sample(rows)

    def finish(self) -> Iterator[Recorded]:
        """Sample the rest of the time, and yield the samples of each group."""
        self._pass_to(self._span[1])
        for group, spool in zip(self._groups, self._spools, strict=True):
            yield Recorded(
                group.gpus, spool.times_ns, spool.idle, spool.read(), group.hindered
            )

    def _pass_to(self, time_ns: int) -> None:
        ranks = self._cluster.scenario.ranks
        for rows in between(self._states, self._at, time_ns, ranks):
            self._sample(rows)

    def _sample(self, rows: Rows) -> None:
        with ThreadPoolExecutor(_THREADS) as threads:
            list(
                threads.map(
                    lambda n: self._sample_group(n, rows), range(len(self._groups))
                )
            )
        self._at = int(rows.start[-1])

    def _sample_group(self, number: int, rows: Rows) -> None:
        group, spool = self._groups[number], self._spools[number]
        if group.gpus.start >= self._cluster.scenario.ranks:
            rows = without_run(rows, _count(group.gpus))
        turn = number * _TURN % 1 * self._interval
        times = self._times(rows, self._span[0] + round(turn / _MS) * _MS)
        taken = 0
        for samples in group.take(rows, times):
            some = times[taken : taken + len(samples.average)]
            row = np.searchsorted(rows.start[1:-1], some, side="right")
            spool.add(some, rows.level[row] == np.float32(IDLE), samples)
            taken += len(some)

    def _times(self, rows: Rows, first_ns: int) -> NDArray[np.int64]:
        """Return the times within rows at which a group is sampled. [ns]"""
        begin, end = int(rows.start[0]), min(int(rows.start[-1]), self._span[1])
        count = max(-(-(begin - first_ns) // self._interval), 0)
        return np.arange(first_ns + count * self._interval, end, self._interval)


def _count(gpus: slice) -> int:
    return int(gpus.stop) - int(gpus.start)


def _groups(cluster: Cluster) -> Iterator[Group]:
    """Yield the GPUs, some nodes at a time."""
    scenario = cluster.scenario
    ranks, total = scenario.ranks, cluster.fleet.gpus.height
    per_node = scenario.fleet.gpus_per_node
    size = max(MOST_GPUS // per_node, 1) * per_node
    traits = Traits.of(scenario, cluster.fleet.gpus.height)
    unit = noise(scenario)
    firsts = [*range(0, ranks, size), *range(ranks, total, size)]
    for first, after in pairwise([*firsts, total]):
        gpus = slice(first, after)
        yield Group(
            gpus=gpus,
            columns=gpus if first < ranks else slice(0, after - first),
            tdp_w=scenario.fleet.tdp_w,
            factor=traits.factor[gpus],
            place_c=traits.place_c[gpus],
            hindered=tuple(_hindered(cluster, gpus)),
            noise=unit,
        )


def _hindered(cluster: Cluster, gpus: slice) -> Iterator[Hindrance]:
    for fault in cluster.faults:
        if fault.kind not in _LOW_CLOCK:
            continue
        for rank in fault.ranks:
            if gpus.start <= rank < gpus.stop:
                yield Hindrance(
                    rank - gpus.start,
                    fault.from_ns,
                    fault.to_ns,
                    fault.severity,
                    fault.kind,
                )
