"""Rollups that are condensed together, day by day."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from analysis import Analysis, Rollup
from ingest.lake import Writer, snapshot
from ingest.staging import Place
from pipeline._days import rows_told
from pipeline._memory import trim
from pipeline._owners import ByDay
from pipeline._pace import Pace
from pipeline._work import Work
from pipeline.rolling import Rolling, Rows, rolling_of


@dataclass(slots=True)
class _Due:
    """Days that a rollup has to condense.

    Attributes:
        rolling: The rollup.
        days: The days, and their raw rows.
        done: Days that are condensed. [1]
    """

    rolling: Rolling
    days: Sequence[tuple[Place, Rows]]
    done: int = 0

    @property
    def rows(self) -> int:
        """Rows of its days, as far as their parts tell. [1]"""
        return sum(rows_told(source) for _, source in self.days)

    def condense(self, place: Place, source: Rows, work: Work, pace: Pace) -> None:
        """Condense one of its days, and tell of it.

        Args:
            place: Owner and day.
            source: The raw rows.
            work: Results so far.
            pace: How fast days go.
        """
        rolling = self.rolling
        name = f"{rolling.rollup.name} of {place.owner}, {place.day}"

        def seen(rows: int) -> None:
            if line := pace.within(rows):
                rolling.say(f"{name}: {line}")

        rows = rolling.condense(place, source, work, seen)
        trim()
        self.done += 1
        left = f"{self.done} of {len(self.days)} days"
        rolling.say(f"{name}: {pace.told(rows, rows_told(source))}, {left}")


def in_turn(
    every: Iterable[Analysis | Rollup],
) -> Iterator[tuple[list[Rollup], Analysis | None]]:
    """Yield each analysis, and rollups that follow each other together."""
    rollups: list[Rollup] = []
    for one in every:
        if isinstance(one, Rollup):
            rollups.append(one)
            continue
        if rollups:
            yield rollups, None
            rollups = []
        yield [], one
    if rollups:
        yield rollups, None


def in_force(
    one: Analysis | Rollup, overrides: Mapping[str, float]
) -> dict[str, float]:
    """Return the thresholds of an analysis."""
    return {
        name: overrides.get(name, default) for name, default in one.thresholds.items()
    }


def run_together(
    rollups: Sequence[tuple[Rollup, Mapping[str, float]]],
    work: Work,
    writer: Writer,
    by_day: ByDay,
) -> dict[str, bool]:
    """Condense the days that have changed, each in a commit of its own.

    Day by day: what one rollup has read or made of a day is at hand for the next.

    Args:
        rollups: Rollups, of which none reads what another one fills, and their
            thresholds in force.
        work: Results so far; it sees the new rollups afterwards.
        writer: The lake, locked.
        by_day: Who is told of each day, and how many windows are condensed at once.

    Returns:
        By name of each that has owners, whether any day of it was new.
    """
    rollings = [rolling_of(*one, work, writer, by_day) for one in rollups]
    found = [one.due(work) for one in rollings]
    every = [_Due(one, days) for one, (days, _) in zip(rollings, found, strict=True)]
    pace = Pace(sum(due.rows for due in every))
    for day in sorted({place.day for due in every for place, _ in due.days}):
        for due in every:
            for place, source in due.days:
                if place.day == day:
                    due.condense(place, source, work, pace)
    told: dict[str, bool] = {}
    for one, (days, has_gone) in zip(rollings, found, strict=True):
        is_new = bool(days) or has_gone
        if is_new:
            work.see(snapshot(writer.root), one.rollup.outputs)
        if is_new or one.owners:
            told[one.rollup.name] = is_new
    return told
