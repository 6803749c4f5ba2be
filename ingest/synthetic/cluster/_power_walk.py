"""All GPUs of a cluster, led through time by its steps, some neighbours at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Final

from ingest.synthetic.cluster._power_activity import (
    Rows,
    between,
    states,
    steps,
    without_run,
)
from ingest.synthetic.cluster._power_group import MOST_GPUS, Group
from ingest.synthetic.cluster._power_levels import Traits, noise
from ingest.synthetic.cluster._power_samples import Hindrance
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.steps import StepWindow

#: Groups that are worked on at once.
_THREADS: Final = 2

#: Kinds of faults that lower a clock.
_LOW_CLOCK: Final = frozenset({"slow_gpu", "thermal_cap", "power_cap"})

#: Groups are sampled one after the other: this share of an interval later, so that
#: neighbours are far apart. [1]
_TURN: Final = 0.618

_MS: Final = 1_000_000


class Walk:
    """Leads groups of GPUs through time: steps, and what is between them."""

    def __init__(
        self, cluster: Cluster, from_ns: int, work: Callable[[int, Rows], None]
    ) -> None:
        """Take where it begins.

        Args:
            cluster: The cluster.
            from_ns: Its beginning. [ns]
            work: Called with the number of each group and its next rows, of groups at
                once.
        """
        self._cluster = cluster
        self._work = work
        self._at = from_ns
        self._states = states(cluster.attempts)
        # the same threads all the way: each has its own memory
        self._threads = ThreadPoolExecutor(_THREADS)
        self.groups = tuple(groups_of(cluster))

    def take(self, window: StepWindow) -> None:
        """Go on to the end of a window."""
        rows = steps(window)
        self.pass_to(int(rows.start[0]))
        self._go(rows)

    def pass_to(self, time_ns: int) -> None:
        """Go on to a time without steps. [ns]"""
        ranks = self._cluster.scenario.ranks
        for rows in between(self._states, self._at, time_ns, ranks):
            self._go(rows)

    def close(self) -> None:
        """Let go of threads, and of what only rows to come would need."""
        self._threads.shutdown()
        for group in self.groups:
            group.forget()

    def _go(self, rows: Rows) -> None:
        every = range(len(self.groups))
        list(self._threads.map(lambda number: self._lead(number, rows), every))
        self._at = int(rows.start[-1])

    def _lead(self, number: int, rows: Rows) -> None:
        gpus = self.groups[number].gpus
        if gpus.start >= self._cluster.scenario.ranks:
            rows = without_run(rows, count(gpus))
        self._work(number, rows)


def count(gpus: slice) -> int:
    """Return how many GPUs there are. [1]"""
    return int(gpus.stop) - int(gpus.start)


def first_sample_ns(cluster: Cluster, number: int, interval_ns: int) -> int:
    """Return when a group is first sampled: it is again after each interval. [ns]

    Args:
        cluster: The cluster.
        number: Number of the group.
        interval_ns: Time between two samples. [ns]
    """
    turn = number * _TURN % 1 * interval_ns
    return cluster.scenario.begun_ns + round(turn / _MS) * _MS


def groups_of(cluster: Cluster) -> Iterator[Group]:
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
