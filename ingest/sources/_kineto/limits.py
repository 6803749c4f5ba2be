"""Tell sound times from broken ones, by the trace that they are in."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median_low
from typing import Final

import polars as pl

from ingest.sources._kineto.spool import Spool

#: Traces last minutes: what starts a day from the rest has a broken time (zero, or a
#: counter that ran over). [ns]
FARTHEST_NS: Final = 86_400 * 10**9

#: Longest work where the trace does not tell its span: collectives are given up after
#: half an hour at most by default. [ns]
LONGEST_NS: Final = 3_600 * 10**9

#: What work may take longer than the span of profiling: their clocks differ. [ns]
SLACK_NS: Final = 10**9

#: The year 2100: times beyond it are none, and sums with them might not fit. [ns]
LATEST_NS: Final = 4_102_444_800 * 10**9


@dataclass(frozen=True, slots=True)
class Limits:
    """What times of a trace can be.

    Attributes:
        base_ns: What to add to its times. [ns]
        first_ns: Earliest start, before adding. [ns]
        last_ns: Latest start, before adding. [ns]
        longest_ns: Longest work. [ns]
    """

    base_ns: int
    first_ns: int
    last_ns: int
    longest_ns: int

    def broken(self, longest_ns: int) -> pl.Expr:
        """Return the rule that `start` or `duration` breaks, null where they are sound.

        Args:
            longest_ns: Longest duration. [ns]
        """
        start, duration = pl.col("start"), pl.col("duration")
        return (
            pl.when(start.is_null() | duration.is_null())
            .then(pl.lit("no_time"))
            .when(duration < 0)
            .then(pl.lit("negative_duration"))
            .when(~start.is_between(self.first_ns, self.last_ns))
            .then(pl.lit("time_outside_trace"))
            .when(duration > longest_ns)
            .then(pl.lit("longer_than_trace"))
        )


def limits_of(
    work: Spool, steps: pl.DataFrame, base_ns: int | None, window_ns: int | None
) -> Limits:
    """Return the limits of a trace.

    Args:
        work: Frames of work on GPUs, with `start`. [ns]
        steps: Steps, with `start`; they count where there is no work. [ns]
        base_ns: Instant that times count from, where the trace tells one. [ns]
        window_ns: Span of profiling, where the trace tells it. [ns]
    """
    middle = _middle(frame["start"] for frame in work)
    if middle is None:
        middle = _middle([steps["start"]])
    middle = middle or 0
    base_ns = base_ns or 0
    is_absolute = middle >= base_ns
    longest = window_ns + SLACK_NS if window_ns and window_ns > 0 else LONGEST_NS
    return Limits(
        base_ns=0 if is_absolute else base_ns,
        first_ns=max(middle - FARTHEST_NS, -LATEST_NS),
        last_ns=min(middle + FARTHEST_NS, LATEST_NS),
        longest_ns=min(longest, FARTHEST_NS),
    )


def _middle(starts: Iterable[pl.Series]) -> int | None:
    """Return a start that half of the frames, and half of its own, do not exceed."""
    known = (series.drop_nulls().sort() for series in starts)
    middles = [int(one[len(one) // 2]) for one in known if len(one)]
    return median_low(middles) if middles else None
