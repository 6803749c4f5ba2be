"""Release a recorded run at a speed, and tell of each simulated hour."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ingest.errors import SettingError
from ingest.replay import Released, Replay, Silence
from ingest.times import HOUR_NS, SECOND_NS
from pipeline.logs import Say

#: Whole hours, 9,999 at most: more than a year.
_HOURS: Final = re.compile(r"([1-9]\d{0,3})h")

#: Units of time by which long times are told. [s]
_UNITS: Final = (("days", 86_400), ("h", 3_600), ("min", 60))

#: Longer than any recording: no speed takes a clock further. [ns]
_LONGEST_NS: Final = 2.0**63

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
        told: Files that are gone from the inbox, of which it was told.
    """

    replay: Replay
    speed: float
    say: Say
    clock: Clock = field(default_factory=Clock)
    told: set[Path] = field(default_factory=set)

    def run(self, until_ns: int | None = None) -> Released:
        """Release everything, or what was written by a time.

        What was added to the recording since an earlier replay comes first.

        Args:
            until_ns: Simulated time at which it ends. [ns]
        """
        last = self.replay.last_ns
        end = last if until_ns is None else min(until_ns, last)
        self.say(self._foretold(end))
        total = self.replay.advance(min(self.replay.now_ns, end))
        self._tell_gone()
        for silence in self._silences(end):
            total += self._until(silence.begin_ns)
            total += self._pass_over(silence.end_ns)
        return total + self._until(end)

    def _silences(self, end_ns: int) -> list[Silence]:
        """Return the silences between now and a time, cut to that."""
        now = self.replay.now_ns
        cut = [
            Silence(max(begin, now), min(end, end_ns))
            for begin, end in self.replay.silences
        ]
        return [one for one in cut if one.begin_ns < one.end_ns]

    def _foretold(self, end_ns: int) -> str:
        now, silences = self.replay.now_ns, self._silences(end_ns)
        paced_ns = end_ns - now - sum(end - begin for begin, end in silences)
        takes = in_words(max(0, paced_ns) / SECOND_NS / self.speed)
        return (
            f"{self.replay.files} files, {self.replay.bytes_left:,} bytes left, from"
            f" {at(now)} until {at(end_ns)}: about {takes} at speed {self.speed:g}"
        )

    def _until(self, end_ns: int) -> Released:
        start, began_s = self.replay.now_ns, self.clock.now()
        total = hour = Released()
        told_ns = start // HOUR_NS
        while self.replay.now_ns < end_ns:
            passed = (self.clock.now() - began_s) * self.speed * SECOND_NS
            passed_ns = round(min(passed, _LONGEST_NS))
            now_ns = min(start + passed_ns, end_ns, (told_ns + 1) * HOUR_NS)
            hour += self.replay.advance(now_ns)
            self._tell_gone()
            if now_ns == (told_ns + 1) * HOUR_NS or now_ns == end_ns:
                self._tell(hour)
                total, hour, told_ns = total + hour, Released(), now_ns // HOUR_NS
            if now_ns == start + passed_ns:
                self.clock.sleep(TICK_S)
        return total

    def _pass_over(self, end_ns: int) -> Released:
        now, then = self.replay.now_ns, self.replay.next_after(end_ns)
        silent = in_words((end_ns - now) / SECOND_NS)
        self.say(
            f"{at(now)}: nothing was written for {silent}, which is passed over; then"
            f" comes {then}"
        )
        return self.replay.advance(end_ns)

    def _tell(self, hour: Released) -> None:
        rotated = f", {hour.rotated} files rotated" if hour.rotated else ""
        self.say(f"{at(self.replay.now_ns)}: {hour.bytes:,} bytes{rotated}")

    def _tell_gone(self) -> None:
        new = [path for path in self.replay.gone if path not in self.told]
        self.told.update(new)
        if new:
            more = f" and {len(new) - 1:,} more" if new[1:] else ""
            self.say(
                f"{new[0]}{more}: not in the inbox as released; what is gone"
                " does not come again"
            )


def in_words(seconds: float) -> str:
    """Return a length of time in the largest unit of which there are two. [s]"""
    for unit, size in _UNITS:
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:,.0f} s"


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
        message = f"--rotate {text!r}: expected 1 to 9999 whole hours, such as 6h"
        raise SettingError(message)
    return int(said.group(1)) * HOUR_NS
