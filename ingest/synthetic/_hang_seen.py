"""What a rank had seen of its program when it dumped."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ingest.synthetic._hang_machine import Rank

#: The watchdog looks this often. [ns]
_POLL_NS: Final = 100_000_000


@dataclass(frozen=True, slots=True)
class Recorder:
    """How a job records.

    Attributes:
        version: Version of the format.
        size: Entries that a buffer holds.
        only_active: Whether dumps hold only what has not ended.
        with_timing: Whether starts and durations are recorded.
        bases: By group, the number of its collectives before the programs start.
        started_ns: When the programs start. [ns]
        batches: Whether sends and receives are asked for in batches, of one each.
    """

    version: str
    size: int
    only_active: bool
    with_timing: bool
    bases: Mapping[str, int]
    started_ns: int
    batches: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """What a rank had seen of its program.

    Attributes:
        rank: The rank, where it stands.
        recorder: How the job records.
        until_ns: When it dumps, after the start; None when nothing moves any more.
        recorded: Operations whose end it saw; None for all that ended.
    """

    rank: Rank
    recorder: Recorder
    until_ns: int | None = None
    recorded: int | None = None

    def asked(self, place: int) -> bool:
        """Return whether it had asked for an operation."""
        asked = self.rank.asked_ns
        return place < len(asked) and self._by_then(asked[place])

    def state(self, place: int) -> str:
        """Return how far an operation had got."""
        end_ns = self.rank.ended_ns.get(place)
        was_seen = self.recorded is None or place < self.recorded
        if end_ns is not None and self._by_then(end_ns) and was_seen:
            return "completed"
        reached = place <= self.rank.at and place < self.rank.does
        return "started" if self.recorder.with_timing and reached else "scheduled"

    def times(self, place: int) -> dict[str, Any]:
        """Return the times that an entry has of an operation, and its state."""
        asked_ns = self.recorder.started_ns + self.rank.asked_ns[place]
        ended_ns = self.recorder.started_ns + self.rank.ended_ns.get(place, 0)
        state = self.state(place)
        is_done, timed = state == "completed", self.recorder.with_timing
        begun = timed and state != "scheduled"
        return {
            "time_created_ns": asked_ns,
            "time_discovered_started_ns": asked_ns + _POLL_NS if begun else None,
            "time_discovered_completed_ns": ended_ns + _POLL_NS if is_done else None,
            "retired": is_done,
            "state": state,
        } | ({"duration_ms": 0.4} if timed and is_done else {})

    def _by_then(self, time_ns: int) -> bool:
        return self.until_ns is None or time_ns <= self.until_ns
