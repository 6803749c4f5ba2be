"""What a page is compared with, and the two sides of that comparison."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

import polars as pl

from analysis import Frames
from analysis.changes import Side
from analysis.lost_time import LostTime
from reports._section import Scope
from reports._words import name, plural
from reports.provenance import Baseline

#: Days before count from a moment of a trace's own.
_FIRST_DAY: Final = "2000-01-01"

#: A day later.
_ONE: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Sides:
    """Two sides, what each is called, and whether the first is of another lake."""

    before: Side
    now: Side
    against: str
    subject: str
    is_elsewhere: bool = False


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
        is_elsewhere=given.is_elsewhere,
        subject=f"run {name(ours[0])}" if len(ours) == 1 else plural(len(ours), "run"),
    )


def _by_day(frames: Frames, scope: Scope, given: Baseline | None) -> Sides | None:
    """Hold days against those before them, of the runs that have both.

    Where a day was chosen and no run has both, all runs count.
    """
    held = _held(frames, scope)
    if held.is_empty():
        return None
    since = given.since if given else held["day"].max()
    is_later = pl.col("day") >= since
    both = held.group_by("run_id").agg(both=is_later.any() & (~is_later).any())
    runs = both.filter("both")["run_id"].sort().to_list()
    if not runs and given:
        runs = both["run_id"].sort().to_list()
    days = held.filter(pl.col("run_id").is_in(runs))["day"].unique().sort().to_list()
    earlier = [day for day in days if day < since]
    later = [day for day in days if day >= since]
    if not earlier or not later:
        return None
    until = (date.fromisoformat(later[-1]) + _ONE).isoformat()
    return Sides(
        before=Side(frames, tuple(runs), until=later[0]),
        now=Side(frames, tuple(runs), since=later[0], until=until),
        against=_span(earlier),
        subject=_span(later),
    )


def _span(days: list[str]) -> str:
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _held(frames: Frames, scope: Scope) -> pl.DataFrame:
    """Return `run_id` and `day` (UTC) of the time that was paid for."""
    dated = scope.of_runs(frames[LostTime]).filter(pl.col("day") >= _FIRST_DAY)
    return dated.select("run_id", "day").unique().collect()
