"""Repairs and what each would save: the candidates for what to do first."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import polars as pl

from analysis import Frames
from analysis.attempts import Attempts
from analysis.interruptions import Interruptions
from analysis.stragglers import StragglerRanks
from reports import _ledger, _runs, _slow_ranks
from reports._numbers import percent
from reports._section import Scope
from reports._words import listed, name, plural, said
from reports.dollars import dollars

#: Below this many interruptions their causes are anecdotes.
_FEW: Final = 5

#: q-value from which a slow GPU is beyond doubt.
_SURE_Q: Final = 1e-4

#: Accounts that a repair could empty at most: what to do, who acts, and the evidence.
_BOUNDS: Final[Mapping[str, tuple[str, str, str]]] = {
    "exposed_communication": ("hide communication behind compute", "us", "overlap"),
    "data_stall": ("feed input faster", "us", "lost_time"),
    "checkpoint_stall": ("write checkpoints beside training", "us", "lost_time"),
    "idle": ("close gaps between kernels", "user", "overlap"),
}


#: What mends a cause, where it is not the GPU itself.
_MENDS: Final[Mapping[str, str]] = {
    "power_cap": "lift the power cap of",
    "power_brake": "find who brakes the power of",
    "thermal_slowdown": "cool",
    "stage_imbalance": "even out",
    "data_loading": "feed input faster to",
}

#: What the sections that show evidence are called on the page.
_TITLES: Final[Mapping[str, str]] = {
    "overlap": "Hidden and exposed",
    "lost_time": "Where it went",
    "stragglers": "Slow GPUs",
    "interruptions": "Interruptions",
}


@dataclass(frozen=True, slots=True)
class Repair:
    """A repair, and what it saves with everything else as it is.

    Attributes:
        what: What is repaired.
        usd: Saving inside the time on the page. [USD]
        per_day: The same over the days of its run; None where they are not known.
        rest: The same for the steps that are left; None where they are not known.
        is_bound: Whether the saving is an upper bound.
        confidence: How sure it is, and why.
        evidence: Title of the section that shows it.
        section: Name of that section.
        who: Who has to act.
    """

    what: str
    usd: Decimal
    per_day: Decimal | None
    rest: Decimal | None
    is_bound: bool
    confidence: str
    evidence: str
    section: str
    who: str


def candidates(frames: Frames, scope: Scope) -> list[Repair]:
    """Return every repair that saves something, the largest saving first."""
    rows = _ledger.by_run(frames, scope)
    found = [
        *_slow(frames, scope),
        *_broken(rows, frames, scope),
        *_bounds(rows, frames, scope),
    ]
    return sorted(found, key=lambda repair: (-repair.usd, repair.what))


def _slow(frames: Frames, scope: Scope) -> list[Repair]:
    rows = scope.of_runs(frames[StragglerRanks]).filter(pl.col("lost_gpu_ns") > 0)
    ordered = rows.sort("run_id", "scope", "scope_id").collect()
    return [_slow_one(row, frames, scope) for row in ordered.to_dicts()]


def _slow_one(row: Mapping[str, object], frames: Frames, scope: Scope) -> Repair:
    run_id = str(row["run_id"])
    slowdown = float(str(row["slowdown_ratio"])) - 1
    cause = str(row["cause"])
    mend = _MENDS.get(cause, "repair or replace")
    known = "" if cause in {"unknown", *_MENDS} else f" ({name(said(cause))})"
    usd = dollars(int(str(row["lost_gpu_ns"])), scope.price(run_id))
    sure = float(str(row["q_value"])) <= _SURE_Q
    return Repair(
        what=f"{mend} {_slow_ranks.who(row, at_start=False)},"
        f" {percent(slowdown)} slow{known}",
        usd=usd,
        per_day=_per_day(usd, run_id, frames, scope),
        rest=_rest(usd, run_id, frames, scope),
        is_bound=False,
        confidence="high" if sure else "good",
        evidence=_TITLES["stragglers"],
        section="stragglers",
        who="provider" if row["scope"] in {"gpu", "host", "rack"} else "us",
    )


def _broken(rows: pl.DataFrame, frames: Frames, scope: Scope) -> list[Repair]:
    repairs = []
    for run_id in rows["run_id"].unique().sort():
        own = rows.filter(pl.col("run_id") == run_id)
        lost = _ledger.of(_ledger.accounts(own, scope), "restart", "recompute")
        stops = frames[Interruptions].filter(
            (Interruptions.run_id.col == run_id) & ~Interruptions.planned.col
        )
        seen = stops.select("component", "category").collect()
        if lost.gpu_ns and seen.height:
            repairs.append(_broken_one(run_id, lost.usd, seen, frames, scope))
    return repairs


def _broken_one(
    run_id: str, usd: Decimal, seen: pl.DataFrame, frames: Frames, scope: Scope
) -> Repair:
    alone = len(scope.provenance.run_ids) == 1
    of_run = "" if alone else f" of {name(run_id)}"
    causes = seen.select(cause=pl.coalesce("component", "category")).to_series()
    counts = causes.value_counts().sort(["count", "cause"], descending=[True, False])
    most = [f"{count} by {said(name(cause))}" for cause, count in counts.iter_rows()]
    few = seen.height < _FEW
    hardware = (seen["category"].is_in(["hardware", "network"])).any()
    return Repair(
        what=f"prevent {plural(seen.height, 'interruption')}{of_run} ({listed(most)})",
        usd=usd,
        per_day=_per_day(usd, run_id, frames, scope),
        rest=_rest(usd, run_id, frames, scope),
        is_bound=True,
        confidence="low: fewer than 5" if few else "good",
        evidence=_TITLES["interruptions"],
        section="interruptions",
        who="provider" if hardware else "us",
    )


def _bounds(rows: pl.DataFrame, frames: Frames, scope: Scope) -> list[Repair]:
    repairs = []
    several = rows["run_id"].n_unique() > 1
    for run_id, category, gpu_ns in rows.iter_rows():
        if category not in _BOUNDS:
            continue
        what, who, section = _BOUNDS[category]
        usd = dollars(gpu_ns, scope.price(run_id))
        repairs.append(
            Repair(
                what=f"{what} in {name(run_id)}" if several else what,
                usd=usd,
                per_day=_per_day(usd, run_id, frames, scope),
                rest=_rest(usd, run_id, frames, scope),
                is_bound=True,
                confidence="upper bound",
                evidence=_TITLES[section],
                section=section,
                who=who,
            )
        )
    return repairs


def _per_day(usd: Decimal, run_id: str, frames: Frames, scope: Scope) -> Decimal | None:
    days = _runs.days_of(frames, scope, run_id)
    return usd / days if days else None


def _rest(usd: Decimal, run_id: str, frames: Frames, scope: Scope) -> Decimal | None:
    planned = _runs.planned_steps(frames, run_id)
    seen = (
        frames[Attempts]
        .filter(Attempts.run_id.col == run_id)
        .select(pl.col("first_step").min(), pl.col("last_step").max())
        .collect()
        .row(0)
    )
    if planned is None or seen[0] is None or seen[1] is None:
        return None
    done, left = seen[1] - seen[0] + 1, planned - seen[1] - 1
    return usd * max(left, 0) / done if done > 0 else None
