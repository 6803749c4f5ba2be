"""Counters of energy as they stand before each day, from the steps of all days before.

A day's samples count on from there, so that each day can be made without the others.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingest.synthetic.cluster._power_activity import Rows
from ingest.synthetic.cluster._power_cells import Cells, spent
from ingest.synthetic.cluster._power_group import Group
from ingest.synthetic.cluster._power_levels import Traits
from ingest.synthetic.cluster._power_walk import Walk, first_sample_ns
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.outages import outages
from ingest.synthetic.cluster.steps import StepWindow

Counters = NDArray[np.int64]


class _Mark(NamedTuple):
    """A moment at which counters are looked at: the last sample before something.

    Attributes:
        at_ns: The moment. [ns]
        day: Number of the day that begins then; -1: a node starts again.
        first: First of its GPUs, counted in the group.
        last: The one behind the last.
    """

    at_ns: int
    day: int
    first: int
    last: int


class PowerMeters:
    """Counters of energy of all GPUs, led on by the windows of steps in their order."""

    def __init__(
        self, cluster: Cluster, starts_ns: Sequence[int], interval_ns: int
    ) -> None:
        """Take when counters are wanted.

        Args:
            cluster: The cluster.
            starts_ns: Starts of days, in order. [ns]
            interval_ns: Time between two samples of a GPU. [ns]
        """
        self._walk = Walk(cluster, cluster.scenario.begun_ns, self._add)
        gpus = cluster.fleet.gpus.height
        self._begun = Traits.of(cluster.scenario, gpus).energy_mj.copy()
        self._total, self._since = np.zeros(gpus), np.zeros(gpus)
        self._found: Counters = np.repeat(self._begun[None, :], len(starts_ns), axis=0)
        self._marks = tuple(
            sorted(_marks(cluster, number, group, starts_ns, interval_ns))
            for number, group in enumerate(self._walk.groups)
        )

    def take(self, window: StepWindow) -> None:
        """Go on to the end of a window."""
        self._walk.take(window)

    def before(self, day: int, until_ns: int) -> Counters:
        """Return what counters of all GPUs show before a day: at their last samples.

        Args:
            day: Its number.
            until_ns: A time after its start, up to which windows were taken. [ns]
        """
        self._walk.pass_to(until_ns)
        found: Counters = self._found[day]
        return found

    def _add(self, number: int, rows: Rows) -> None:
        group, marks = self._walk.groups[number], self._marks[number]
        levels = group.levels(rows)
        if marks and marks[0].at_ns < rows.start[-1]:
            self._look(group, Cells.of(rows, group.columns, levels), marks)
        self._total[group.gpus] += spent(rows, group.columns, levels)

    def _look(self, group: Group, cells: Cells, marks: list[_Mark]) -> None:
        """Note what counters show at marks within rows."""
        begun, since = self._begun[group.gpus], self._since[group.gpus]
        while marks and marks[0].at_ns < cells.start_ns[-1]:
            mark = marks.pop(0)
            some = slice(mark.first, mark.last)
            energy = cells.energy_at(np.array([mark.at_ns]))[0]
            total = self._total[group.gpus] + energy
            if mark.day < 0:
                begun[some], since[some] = 0, total[some]
                continue
            shown = np.rint((total - since) * 1e3).astype(np.int64)
            self._found[mark.day, group.gpus] = begun + shown


def _marks(
    cluster: Cluster,
    number: int,
    group: Group,
    starts_ns: Sequence[int],
    interval_ns: int,
) -> Iterator[_Mark]:
    """Yield the last samples before days, and before nodes of a group start again."""
    first_ns = first_sample_ns(cluster, number, interval_ns)

    def before(time_ns: int) -> int:
        return first_ns + (time_ns - first_ns - 1) // interval_ns * interval_ns

    count = group.gpus.stop - group.gpus.start
    for day, start_ns in enumerate(starts_ns):
        if start_ns > first_ns:
            yield _Mark(before(start_ns), day, 0, count)
    per_node = cluster.scenario.fleet.gpus_per_node
    for one in outages(cluster.attempts):
        first = one.host * per_node - group.gpus.start
        if 0 <= first < count and one.boot_ns > first_ns:
            yield _Mark(before(one.boot_ns), -1, first, first + per_node)
