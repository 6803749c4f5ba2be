"""How fast rows are condensed, and how long the rest takes."""

import time
from typing import Final

_MINUTE_S: Final = 60


class Pace:
    """How fast rows are condensed, and how long the rest takes."""

    def __init__(self, rows: int) -> None:
        """Start to count time.

        Args:
            rows: Rows of all. [1]
        """
        self._rows, self._done = rows, 0
        self._began_s = self._last_s = time.monotonic()

    def told(self, rows: int, parts: int) -> str:
        """Say how fast a piece was, and what is left.

        Args:
            rows: Rows of the piece. [1]
            parts: Rows of its share of all. [1]
        """
        now = time.monotonic()
        took = max(now - self._last_s, 1e-9)
        self._last_s = now
        self._done += parts
        left = (now - self._began_s) * (self._rows - self._done) / max(self._done, 1)
        speed = f"{rows:,} rows in {took:.1f} s ({rows / took / 1e6:.1f} M rows/s)"
        return f"{speed}, {_duration(left)} left"


def _duration(seconds: float) -> str:
    if seconds < _MINUTE_S:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE_S:.0f} min"
