"""What to do about interruptions: by who acts, and what shortens all of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

import polars as pl

from analysis import Frames
from analysis.interruptions import Interruptions
from reports import _causes, _loss_shown, _repair_bounds, _step_cells
from reports._claim_facts import CLAIMABLE, STOP
from reports._numbers import percent
from reports._partly import partly
from reports._repair import TITLES, Repair
from reports._savings import Saving, saving
from reports._section import Scope
from reports._words import name, plural
from reports.dollars import dollars, in_words

#: Below this many interruptions their causes are anecdotes, and no rate of a day.
_FEW: Final = 5

#: Accounts that stops fill.
_OF_STOPS: Final = ("restart", "recompute")

#: Where a cause lies: what to do about N interruptions by it, and who acts.
_ACTS: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(
        CLAIMABLE, ("claim the {stops}{of} that {point} at the provider", "provider")
    ),
    "maintenance": ("agree on windows for the maintenance that {stopped}", "provider"),
    "software": ("fix the software that {stopped}", "us"),
    "scheduler": ("change the rules of the scheduler that {stopped}", "us"),
    "human": ("prevent what people did that {stopped}", "us"),
    "user": ("fix the application that {stopped}", "user"),
}

#: What to do about interruptions without a cause, and who acts.
_UNKNOWN: Final = ("find what {stopped}: no log explains it", "us")

#: What shortens each phase of an interruption; saving more often is a repair apart.
_SHORTER: Final[Mapping[str, str]] = {
    "hang": "watch for steps that cease",
    "detect": "end a stopped attempt sooner",
    "decide": "submit again sooner",
    "requeue": "have nodes ready for a restart",
    "start": "start faster",
}


@dataclass(frozen=True, slots=True)
class _Run:
    """A run that was interrupted.

    Attributes:
        run_id: The run.
        of: Words that name it, where the page is of several.
        rows: Rows of `_ledger.by_run`.
        stops: Its unplanned interruptions.
        phases: Their phases that it paid for.
        frames: The tables.
        scope: Runs and prices of the page.
    """

    run_id: str
    of: str
    rows: pl.DataFrame
    stops: pl.DataFrame
    phases: pl.DataFrame
    frames: Frames
    scope: Scope


def broken(rows: pl.DataFrame, frames: Frames, scope: Scope) -> Iterator[Repair]:
    """Yield what to do about each run's interruptions, and what that saves at most.

    Args:
        rows: Rows of `_ledger.by_run`.
        frames: The tables.
        scope: Runs and prices of the page.
    """
    of_stops = rows.filter(pl.col("category").is_in(_OF_STOPS))
    phases = _loss_shown.of_stops(_loss_shown.rows_of(frames, scope))
    for run_id in of_stops["run_id"].unique().sort():
        stops = frames[Interruptions].filter(
            (Interruptions.run_id.col == run_id) & ~Interruptions.planned.col
        )
        alone = len(scope.provenance.run_ids) == 1
        run = _Run(
            run_id,
            "" if alone else f" of {name(run_id)}",
            rows,
            stops.collect(),
            phases.filter(pl.col("run_id") == run_id),
            frames,
            scope,
        )
        if run.stops.height:
            yield from _by_who_acts(run)
            yield from _shorter(run)


def _by_who_acts(run: _Run) -> Iterator[Repair]:
    """Yield a repair for each action; every interruption is in one of them."""
    acts = [_ACTS.get(kind, _UNKNOWN) for kind in run.stops["category"]]
    for do, who in sorted(set(acts)):
        mine = run.stops.filter(pl.Series([act == (do, who) for act in acts]))
        phases = run.phases.join(mine.select(STOP), on=STOP, how="semi")
        what = do.format(
            stops=plural(mine.height, "interruption"),
            of=run.of,
            point="points" if mine.height == 1 else "point",
            stopped=_stopped(mine.height, run),
        )
        causes = mine.select(cause=pl.coalesce("component", "category")).to_series()
        # a cause that the action names already is not said again
        is_said = (do, who) == _UNKNOWN or set(causes) <= {mine["category"][0]} - {
            *CLAIMABLE
        }
        told = "" if is_said else f" ({_causes.caused(causes)})"
        yield _repair(f"{what}{told}", who, phases, mine.height, run)


def _stopped(count: int, run: _Run) -> str:
    which = run.of.removeprefix(" of ") or "the run"
    return f"stopped {which} {'once' if count == 1 else plural(count, 'time')}"


def _shorter(run: _Run) -> Iterator[Repair]:
    """Yield what shortens the dearest phase of all interruptions."""
    sums = run.phases.group_by("phase").agg(pl.col("gpu_ns").cast(pl.Int128).sum())
    cost = {phase: int(gpu_ns) for phase, gpu_ns in sums.iter_rows()}
    ours = {phase: cost[phase] for phase in _SHORTER if cost.get(phase)}
    if not ours:
        return
    phase = max(ours, key=lambda one: ours[one])
    share = percent(Decimal(ours[phase]) / sum(cost.values()))
    phases = run.phases.filter(pl.col("phase") == phase)
    count = run.stops.height
    what = (
        f"{_SHORTER[phase]}: {phase} is {share} of what"
        f" {plural(count, 'interruption')}{run.of} cost"
    )
    yield _repair(what, "us", phases, count, run)


def _repair(what: str, who: str, phases: pl.DataFrame, count: int, run: _Run) -> Repair:
    """Return a repair that saves at most what phases cost.

    Where no phase is known, the accounts that stops fill bound it.
    """
    saves, is_whole = _cost(phases, run), not phases["gpu_ns"].null_count()
    if saves is None:
        whole = (run.rows, run.run_id, _OF_STOPS, run.frames, run.scope)
        saves = _repair_bounds.saved(*whole)
    is_few = count < _FEW
    if is_few and _step_cells.is_short(saves):
        saves = replace(saves, per_day=None)
    return Repair(
        what=what,
        saves=saves,
        is_bound=is_whole,
        confidence=f"low: fewer than {_FEW}" if is_few else "good",
        evidence=TITLES["interruptions"],
        section="interruptions",
        who=who,
    )


def _cost(phases: pl.DataFrame, run: _Run) -> Saving | None:
    """Return what phases cost as far as known; None where none of it is."""
    lost = int(phases["gpu_ns"].cast(pl.Int128).sum())
    paid = int(run.rows.filter(pl.col("run_id") == run.run_id)["gpu_ns"].sum())
    if not lost or not paid:
        return None
    usd = dollars(lost, run.scope.price(run.run_id))
    share = percent(Decimal(lost) / paid)
    is_whole = not phases["gpu_ns"].null_count()
    said = partly(in_words(usd), has_known=True, is_whole=is_whole)
    return saving(usd, (said, share), run.run_id, run.frames, run.scope)
