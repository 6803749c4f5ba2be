"""What steps take when faults are at some of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from ingest.synthetic.cluster._pauses import Pauses
from ingest.synthetic.cluster._raw_steps import RawSteps
from ingest.synthetic.cluster._watching import Watched
from ingest.synthetic.cluster._work import SECOND_US, Floats, Work
from ingest.synthetic.cluster.scenario import Scenario

#: Whole microseconds, or numbers of steps.
Ints = npt.NDArray[np.int64]

#: Kinds of faults by what they make longer.
OF_WORK: Final = frozenset({"slow_gpu", "thermal_cap", "power_cap"})
OF_LINK: Final = frozenset({"slow_link", "flow_collision"})


@dataclass(frozen=True, slots=True)
class Touch:
    """A fault at some steps of an attempt.

    Attributes:
        fault: Number of the fault.
        kind: Its kind.
        columns: Positions of its ranks among the watched; empty: all ranks alike.
        low: First of the steps, counted from the attempt's first.
        level: How bad it is in each step from there on: a ratio; of data stalls the
            time. [1, us]
    """

    fault: int
    kind: str
    columns: tuple[int, ...]
    low: int
    level: Floats

    @property
    def steps(self) -> int:
        """Steps that it is at. [1]"""
        return len(self.level)

    @property
    def high(self) -> int:
        """Step after the last of them."""
        return self.low + len(self.level)

    def within(self, low: int, high: int) -> "Touch":
        """Return what is of it in a range of steps, counted from there."""
        begin = min(max(self.low, low), high)
        end = max(min(self.high, high), begin)
        level = self.level[begin - self.low : end - self.low]
        return replace(self, low=begin - low, level=level)


@dataclass(frozen=True, slots=True)
class Felt:
    """What steps take. Times in whole us.

    Attributes:
        data: Wait for the input of a rank that is not delayed.
        healthy: Longest work of all ranks, were nothing to happen to them.
        arrived: When the last rank is done with its work.
        communication: Communication of a rank whose links are well.
        slowest_link: That of the rank with the slowest.
        idle: Time without a kernel.
        checkpoint: Wait for a checkpoint.
        watched: Work of the watched: steps x watched.
        watched_data: What they wait for their input beyond the others.
        watched_communication: What their communication takes beyond the others'.
        paused: Pauses of those that are not watched.
        paused_work: Work of each of these, pause included.
    """

    data: Ints
    healthy: Ints
    arrived: Ints
    communication: Ints
    slowest_link: Ints
    idle: Ints
    checkpoint: Ints
    watched: Ints
    watched_data: Ints
    watched_communication: Ints
    paused: Pauses
    paused_work: Ints

    @property
    def duration(self) -> Ints:
        """Wall time of each step."""
        return self.arrived + self.slowest_link + self.idle + self.checkpoint


def feel(
    work: Work,
    raw: RawSteps,
    common: Floats,
    touches: Sequence[Touch],
    first_step: int,
) -> Felt:
    """Find what steps take.

    However many faults meet, nothing is longer for them by more than the watchdog's
    time: whoever waits longer gives up.

    Args:
        work: Own work of the ranks.
        raw: Draws of these steps.
        common: What all work is multiplied by. [1]
        touches: Faults at these steps.
        first_step: Number of the first of them.
    """
    data, checkpoint = raw.data.copy(), _saves(work, raw, first_step)
    own = Watched.of(work, raw, common)
    watched, most = own.work, longest_us(work.scenario)
    usual, due, saved = watched.copy(), data + most, checkpoint + most
    late, far = np.zeros_like(watched), np.zeros_like(watched)
    for one in touches:
        rows, columns = slice(one.low, one.high), list(one.columns)
        level = one.level[:, None]
        if one.kind in OF_WORK:
            longer = watched[rows, columns] * level
            watched[rows, columns] = np.minimum(longer, usual[rows, columns] + most)
        elif one.kind in OF_LINK:
            longer = far[rows, columns] + raw.communication[rows, None] * (level - 1)
            far[rows, columns] = np.minimum(longer, most)
        elif one.kind == "checkpoint_storm":
            checkpoint[rows] = np.minimum(checkpoint[rows] * one.level, saved[rows])
        elif columns:
            late[rows, columns] = np.minimum(late[rows, columns] + level, most)
        else:
            data[rows] = np.minimum(data[rows] + one.level, due[rows])
    watched[own.cells] += own.pause
    whole = _whole(data, raw.healthy * common, raw.communication, raw.idle, checkpoint)
    return _sum_up(work, whole, (_int(watched), _int(late), _int(far)), own)


def longest_us(scenario: Scenario) -> float:
    """Return by how much faults make a part of a step longer at most. [us]"""
    return scenario.calendar.watchdog_s * SECOND_US


def _saves(work: Work, raw: RawSteps, first_step: int) -> Floats:
    """Return what each step waits for a checkpoint: those that end with one."""
    number = first_step + 1 + np.arange(len(raw.checkpoint))
    is_saved = number % work.scenario.schedule.checkpoint_every == 0
    return np.where(is_saved, raw.checkpoint, 0.0)


def _int(values: Floats) -> Ints:
    return values.astype(np.int64)


def _whole(*values: Floats) -> tuple[Ints, ...]:
    return tuple(_int(one) for one in values)


def _sum_up(
    work: Work,
    whole: tuple[Ints, ...],
    longer: tuple[Ints, Ints, Ints],
    before: Watched,
) -> Felt:
    data, healthy, communication, idle, checkpoint = whole
    own, late, far = longer
    arrived = data + np.where(before.is_alone, 0, healthy)
    if len(work.watched):
        np.maximum(arrived, data + (own + late).max(1), out=arrived)
    paused = before.others
    np.maximum.at(arrived, paused.step, data[paused.step] + before.others_work)
    slowest = communication + (far.max(1) if len(work.watched) else 0)
    return Felt(
        data,
        healthy,
        arrived,
        communication,
        slowest,
        idle,
        checkpoint,
        own,
        late,
        far,
        paused,
        before.others_work,
    )
