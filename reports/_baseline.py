"""What a page is compared with, and the two sides of that comparison."""

from dataclasses import dataclass
from datetime import date, timedelta

import polars as pl

from analysis import Frames
from analysis.changes import Side
from analysis.lost_time import LostTime
from reports._section import Baseline, Scope
from reports._words import name, plural

#: A day later.
_ONE: timedelta = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Sides:
    """Two sides, and what each is called."""

    before: Side
    now: Side
    against: str
    subject: str


def sides(frames: Frames, scope: Scope) -> Sides | None:
    """Return what is compared; None where there is nothing to compare with.

    Without a baseline the last day is held against the days before it.

    Args:
        frames: The tables of the page.
        scope: Runs of the page, and its baseline.
    """
    runs = scope.provenance.run_ids
    given = scope.baseline
    if given is None or given.since:
        return _by_day(frames, scope, given)
    ours = tuple(run for run in runs if given.is_elsewhere or run not in given.run_ids)
    return Sides(
        before=Side(given.frames, given.run_ids),
        now=Side(frames, ours),
        against=given.label,
        subject=f"run {name(ours[0])}" if len(ours) == 1 else plural(len(ours), "run"),
    )


def _by_day(frames: Frames, scope: Scope, given: Baseline | None) -> Sides | None:
    runs = scope.provenance.run_ids
    days = _days(frames, scope)
    since = given.since if given else (days[-1] if days else "")
    earlier = [day for day in days if day < since]
    later = [day for day in days if day >= since]
    if not earlier or not later:
        return None
    until = (date.fromisoformat(later[-1]) + _ONE).isoformat()
    first = earlier[0] if len(earlier) == 1 else f"{earlier[0]} to {earlier[-1]}"
    last = later[0] if len(later) == 1 else f"{later[0]} to {later[-1]}"
    return Sides(
        before=Side(frames, runs, until=since),
        now=Side(frames, runs, since=since, until=until),
        against=first,
        subject=last,
    )


def _days(frames: Frames, scope: Scope) -> list[str]:
    """Return the UTC days with time that was paid for, the first first."""
    dated = scope.of_runs(frames[LostTime]).filter(pl.col("day") >= "2000-01-01")
    found = dated.select(pl.col("day").unique().sort()).collect()
    return list(found["day"])
