"""What each stop costs: the paid time in which the run comes no further for it."""

from dataclasses import dataclass

from ingest.synthetic.cluster._opened import Opened
from ingest.synthetic.cluster._work import SECOND_US
from ingest.synthetic.cluster.accounts import stepped
from ingest.synthetic.cluster.calendar import Attempt
from ingest.synthetic.cluster.clock import clock_of
from ingest.synthetic.cluster.cluster import Cluster

_US = 1_000


def stop_costs(cluster: Cluster) -> dict[int, tuple[int, int]]:
    """Return what stops cost alone and jointly, by their numbers. [GPU ns]

    One rule for all kinds: the paid time of the run's GPUs from the end of the last
    completed step to the start of the first step that was never completed. Where the
    next attempt begins with that step, what it takes longer for being the first is of
    the cost, too; where it begins with others, that is in between. A stop before any
    step of its attempt was completed costs from when that began to when the next does.
    Time between attempts is paid where the run is reserved; spares are paid anyhow.

    Jointly it ends where another stop strikes before the run is as far again; alone the
    next attempt goes on instead, on a fleet without faults. Both end with the time.
    """
    attempts, found = cluster.attempts, {}
    for number, attempt in enumerate(attempts):
        if attempt.stop is not None:
            following = attempts[number + 1] if number + 1 < len(attempts) else None
            stopped = _Stopped(cluster, attempt, following)
            found[attempt.stop.number] = stopped.alone(), stopped.joint()
    return found


@dataclass(frozen=True, slots=True)
class _Stopped:
    """An attempt that was stopped, and the next one, where there is one."""

    cluster: Cluster
    attempt: Attempt
    following: Attempt | None

    @property
    def _missing(self) -> int:
        """Completed steps that are done again. [1]"""
        return self.attempt.steps - self.attempt.kept

    def joint(self) -> int:
        """Return what it costs among all others. [GPU ns]"""
        following = self.following
        if following is None:
            return self._paid(self.attempt.end_ns)
        if self._missing < following.steps:
            again = following.begin_ns + int(following.clock.start[self._missing]) * _US
            return self._paid(again + self._slow_start())
        if following.stop is None:
            return self._paid(following.end_ns)
        return self._paid(_lost_from(following))

    def alone(self) -> int:
        """Return what it would cost without any other fault. [GPU ns]"""
        following = self.following
        if following is None:
            return self._paid(self.attempt.end_ns)
        again = following.begin_ns + self._run_again(following) + self._slow_start()
        return self._paid(min(again, self.cluster.until_ns))

    def _paid(self, until: int) -> int:
        """Return the paid time from when the run came no further to a time."""
        time = until - _lost_from(self.attempt)
        if self.following is not None and not self.cluster.scenario.calendar.reserved:
            time -= self.following.start_ns - self.attempt.end_ns
        return time * self.cluster.scenario.ranks

    def _slow_start(self) -> int:
        """Return what a step takes longer as it is the first one for the stop. [ns]"""
        if self._missing or not self.attempt.steps:
            return 0
        return int(self.cluster.scenario.noise.first_step_s * SECOND_US) * _US

    def _run_again(self, following: Attempt) -> int:
        """Return how long the missing steps take on a fleet without faults. [ns]"""
        if not self._missing:
            return 0
        opened = Opened(
            following.number,
            following.submitted_ns,
            following.start_ns,
            following.begin_ns,
            following.first_step,
        )
        clock = clock_of(self.cluster.work, [], opened, self._missing)
        return int(clock.end[-1]) * _US


def _lost_from(attempt: Attempt) -> int:
    """Return from when on an attempt came no further. [ns]"""
    return stepped(attempt)[1] if attempt.steps else attempt.begin_ns
