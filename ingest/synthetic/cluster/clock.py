"""The clock of an attempt: when its steps start, and what each of them takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.synthetic.cluster._felt import Felt, Ints, Touch, feel
from ingest.synthetic.cluster._opened import Opened
from ingest.synthetic.cluster._raw_steps import raw_steps
from ingest.synthetic.cluster._touching import touch
from ingest.synthetic.cluster._work import Floats, Work
from ingest.synthetic.cluster.faults import PlacedFault

__all__ = ["Clock", "Ints", "Touch", "clock_of"]

#: Passes in which faults that begin at a time find their steps: each moves the steps
#: after it, less from pass to pass.
_PASSES: Final = 3

#: Hour of the day in which work takes longest (UTC), and hours of a day.
_WARMEST_H: Final = 15.0
_DAY_H: Final = 24.0
_HOUR_US: Final = 3_600_000_000


@dataclass(frozen=True, slots=True)
class Clock:
    """What all ranks share of the steps of an attempt, an entry for each. Times in us.

    A step is: wait for the input, work, wait for the slowest, communicate, stand idle,
    wait for the checkpoint. All ranks start and end it together.

    Attributes:
        start: Start, since the attempt's first step began.
        duration: Wall time.
        data: Time that a rank waits for its input.
        healthy: Longest own work of all ranks, were nothing to happen to them.
        arrived: When the last rank is done with its work, since the step's start.
        communication: Time of communication of a rank whose links are well.
        slowest_link: That of the rank with the slowest link.
        idle: Time in which no kernel runs.
        checkpoint: Time that the step waits for a checkpoint.
        common: What every rank's work is multiplied by. [1]
        touches: Which faults are at which of these steps.
    """

    start: Ints
    duration: Ints
    data: Ints
    healthy: Ints
    arrived: Ints
    communication: Ints
    slowest_link: Ints
    idle: Ints
    checkpoint: Ints
    common: Floats
    touches: tuple[Touch, ...]

    @property
    def steps(self) -> int:
        """Steps of the attempt. [1]"""
        return len(self.start)

    @property
    def end(self) -> Ints:
        """End of each step, since the attempt's first step began. [us]"""
        return self.start + self.duration

    def first(self, steps: int) -> "Clock":
        """Return the clock of the first steps alone."""
        names = ("start", "duration", "data", "healthy", "arrived", "communication")
        more = ("slowest_link", "idle", "checkpoint", "common")
        cut = {name: getattr(self, name)[:steps].copy() for name in (*names, *more)}
        touches = [one.within(0, steps) for one in self.touches]
        return Clock(**cut, touches=tuple(one for one in touches if one.steps))


def clock_of(
    work: Work, faults: Sequence[PlacedFault], opened: Opened, steps: int
) -> Clock:
    """Run the clock of an attempt over its first steps.

    Args:
        work: Own work of the ranks.
        faults: Faults that make steps longer.
        opened: The attempt.
        steps: Steps to run. [1]
    """
    raw = raw_steps(work, opened.number, steps)
    usual = round(work.scenario.schedule.step_s * 1_000_000)
    start = np.arange(steps) * usual
    for _ in range(_PASSES):
        common = raw.common * _swing(work, opened.begin_ns // 1_000 + start)
        found = [touch(work, fault, opened, start) for fault in faults]
        touches = tuple(one for one in found if one.steps)
        felt = feel(work, raw, common, touches, opened.first_step)
        start = np.cumsum(felt.duration) - felt.duration
    return _clock(felt, start, common, touches)


def _clock(
    felt: Felt, start: Ints, common: Floats, touches: tuple[Touch, ...]
) -> Clock:
    return Clock(
        start,
        felt.duration,
        felt.data,
        felt.healthy,
        felt.arrived,
        felt.communication,
        felt.slowest_link,
        felt.idle,
        felt.checkpoint,
        common,
        touches,
    )


def _swing(work: Work, time_us: Ints) -> Floats:
    """Return how much longer work takes at a time of day. [1]"""
    hour = time_us / _HOUR_US - _WARMEST_H
    return 1 + work.scenario.noise.diurnal / 2 * (1 + np.cos(2 * np.pi * hour / _DAY_H))
