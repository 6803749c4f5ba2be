"""Release a recorded run at a speed, and tell of each simulated hour."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from ingest.errors import SettingError
from ingest.replay import Released, Replay
from ingest.times import SECOND_NS
from pipeline.logs import Say

_HOURS: Final = re.compile(r"([1-9]\d{0,3})h")

HOUR_NS: Final = 3_600 * SECOND_NS

#: How often files grow, in the time of the wall clock. [s]
TICK_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Clock:
    """The wall clock, or one that tests turn. [s]"""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclass(slots=True)
class Pace:
    """Releases a run at a speed.

    Attributes:
        replay: The run.
        speed: Simulated seconds in a second of the clock.
        say: Told of each simulated hour.
        clock: The clock.
    """

    replay: Replay
    speed: float
    say: Say
    clock: Clock = field(default_factory=Clock)

    def run(self, until_ns: int | None = None) -> Released:
        """Release everything, or what was written by a time.

        Args:
            until_ns: Simulated time at which it ends. [ns]
        """
        last = self.replay.last_ns
        end = last if until_ns is None else min(until_ns, last)
        start, began_s = self.replay.now_ns, self.clock.now()
        total = hour = Released()
        told_ns = start // HOUR_NS
        while self.replay.now_ns < end:
            passed_ns = round((self.clock.now() - began_s) * self.speed * SECOND_NS)
            now_ns = min(start + passed_ns, end, (told_ns + 1) * HOUR_NS)
            hour += self.replay.advance(now_ns)
            if now_ns == (told_ns + 1) * HOUR_NS or now_ns == end:
                self._tell(hour)
                total, hour, told_ns = total + hour, Released(), now_ns // HOUR_NS
            if now_ns == start + passed_ns:
                self.clock.sleep(TICK_S)
        return total

    def _tell(self, hour: Released) -> None:
        rotated = f", {hour.rotated} files rotated" if hour.rotated else ""
        self.say(f"{at(self.replay.now_ns)}: {hour.bytes:,} bytes{rotated}")


def at(time_ns: int) -> str:
    """Return a simulated time in words."""
    moment = datetime.fromtimestamp(time_ns // SECOND_NS, UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def instant_of(text: str) -> int:
    """Return the time of a date, or of a date and a time, in UTC. [ns]

    Raises:
        SettingError: If it is neither.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        message = (
            f"--until {text!r}: expected a date or a time in UTC, such as 2026-03-02 or"
            " 2026-03-02T06:00"
        )
        raise SettingError(message) from error
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(zoned.timestamp()) * SECOND_NS


def hours_of(text: str) -> int:
    """Return how often logs are rotated, of whole hours as in 6h. [ns]

    Raises:
        SettingError: If it is anything else.
    """
    said = _HOURS.fullmatch(text.strip())
    if said is None:
        message = f"--rotate {text!r}: expected whole hours, such as 6h"
        raise SettingError(message)
    return int(said.group(1)) * HOUR_NS
