"""How fast rows are condensed, and how long the rest takes."""

import time
from typing import Final

_MINUTE_S: Final = 60

#: Time between two lines about one piece. [s]
EVERY_S: Final = 5.0


class Pace:
    """How fast rows are condensed, and how long the rest takes."""

    def __init__(self, rows: int) -> None:
        """Start to count time.

        Args:
            rows: Rows of all. [1]
        """
        self._rows, self._done, self._within = rows, 0, 0
        self._began_s = self._last_s = self._said_s = time.monotonic()

    def within(self, rows: int) -> str | None:
        """Say how far a long piece is; nothing where that was said a moment ago.

        Args:
            rows: Rows of the piece that were done since it was asked last. [1]
        """
        self._within += rows
        now = time.monotonic()
        if now - self._said_s < EVERY_S:
            return None
        self._said_s = now
        done = self._done + self._within
        speed = self._within / max(now - self._last_s, 1e-9) / 1e6
        said = f"{done:,} of {self._rows:,} rows ({speed:.1f} M rows/s)"
        return f"{said}, {self._left(now, done)}"

    def told(self, rows: int, parts: int) -> str:
        """Say how fast a piece was, and what is left.

        Args:
            rows: Rows of the piece. [1]
            parts: Rows of its share of all. [1]
        """
        now = time.monotonic()
        took = max(now - self._last_s, 1e-9)
        self._last_s = self._said_s = now
        self._done += parts
        self._within = 0
        speed = f"{rows:,} rows in {took:.1f} s ({rows / took / 1e6:.1f} M rows/s)"
        return f"{speed}, {self._left(now, self._done)}"

    def _left(self, now_s: float, done: int) -> str:
        left = (now_s - self._began_s) * max(self._rows - done, 0) / max(done, 1)
        return f"{_duration(left)} left"


def _duration(seconds: float) -> str:
    if seconds < _MINUTE_S:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE_S:.0f} min"
