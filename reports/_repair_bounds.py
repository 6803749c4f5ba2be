"""Accounts that a repair could empty: each an upper bound of what it saves."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final

import polars as pl

from analysis import Frames
from analysis.interruptions import Interruptions
from analysis.loss_phases import LossPhases
from analysis.overlap import Overlap
from reports import _ledger, _ledger_shown
from reports._ledger_shown import Shown
from reports._numbers import percent
from reports._repair import TITLES, Repair
from reports._savings import Saving, saving
from reports._section import Scope
from reports._words import listed, name, plural, said
from reports.dollars import dollars, in_words

#: Below this many interruptions their causes are anecdotes.
_FEW: Final = 5

#: Accounts that a repair could empty at most: what to do, who acts, and the evidence.
_BOUNDS: Final[Mapping[str, tuple[str, str, str]]] = {
    "exposed_communication": ("hide communication behind compute", "us", "overlap"),
    "data_stall": ("feed input faster", "us", "lost_time"),
    "checkpoint_stall": ("write checkpoints beside training", "us", "lost_time"),
    "idle": ("close gaps between kernels", "user", "overlap"),
}

#: Categories of causes that are in the hands of whom the machines are rented from.
_PROVIDED: Final = ("hardware", "network", "facilities", "maintenance")

#: Accounts that stops fill.
_OF_STOPS: Final = ("restart", "recompute")


def broken(rows: pl.DataFrame, frames: Frames, scope: Scope) -> Iterator[Repair]:
    """Yield for each run what its interruptions cost at most.

    Args:
        rows: Rows of `_ledger.by_run`.
        frames: The tables.
        scope: Runs and prices of the page.
    """
    of_stops = rows.filter(pl.col("category").is_in(_OF_STOPS))
    for run_id in of_stops["run_id"].unique().sort():
        stops = frames[Interruptions].filter(
            (Interruptions.run_id.col == run_id) & ~Interruptions.planned.col
        )
        seen = stops.select("component", "category").collect()
        if seen.height:
            phases = _phases(rows, run_id, frames, scope)
            saved = phases or _saved(rows, run_id, _OF_STOPS, frames, scope)
            alone = len(scope.provenance.run_ids) == 1
            yield _broken_one("" if alone else f" of {name(run_id)}", saved, seen)


def _phases(
    rows: pl.DataFrame, run_id: str, frames: Frames, scope: Scope
) -> Saving | None:
    """Return what unplanned stops of a run cost, None where no phase is known.

    The accounts that stops fill hold more: the first start, and the end.
    """
    lost = (
        frames[LossPhases]
        .filter(LossPhases.run_id.col == run_id, LossPhases.account.col.is_not_null())
        .filter(LossPhases.stop.col.is_not_null() & ~LossPhases.planned.col)
        .select(LossPhases.gpu_ns.col.cast(pl.Int128).sum())
        .collect()
        .item()
    )
    paid = int(rows.filter(pl.col("run_id") == run_id)["gpu_ns"].sum())
    if not lost or not paid:
        return None
    usd = dollars(int(lost), scope.price(run_id))
    share = percent(Decimal(int(lost)) / paid)
    return saving(usd, (in_words(usd), share), run_id, frames, scope)


def _broken_one(of_run: str, saved: Saving, seen: pl.DataFrame) -> Repair:
    causes = seen.select(cause=pl.coalesce("component", "category")).to_series()
    counts = causes.value_counts().sort(["count", "cause"], descending=[True, False])
    most = [f"{count} by {said(name(cause))}" for cause, count in counts.iter_rows()]
    few = seen.height < _FEW
    provided = seen["category"].is_in(_PROVIDED).any()
    return Repair(
        what=f"prevent {plural(seen.height, 'interruption')}{of_run} ({listed(most)})",
        saves=saved,
        is_bound=True,
        confidence="low: fewer than 5" if few else "good",
        evidence=TITLES["interruptions"],
        section="interruptions",
        who="provider" if provided else "us",
    )


def bounds(rows: pl.DataFrame, frames: Frames, scope: Scope) -> Iterator[Repair]:
    """Yield for each run and account what emptying it would save at most.

    Where no trace of kernels shows what was hidden, the ledger is the evidence.

    Args:
        rows: Rows of `_ledger.by_run`.
        frames: The tables.
        scope: Runs and prices of the page.
    """
    several = rows["run_id"].n_unique() > 1
    overlaps = scope.of_runs(frames[Overlap]).select("run_id").unique()
    traced = set(overlaps.collect()["run_id"])
    for run_id, category in rows.select("run_id", "category").iter_rows():
        if category not in _BOUNDS:
            continue
        what, who, section = _BOUNDS[category]
        if section == "overlap" and run_id not in traced:
            what, section = what.replace("kernels", "operations"), "lost_time"
        yield Repair(
            what=f"{what} in {name(run_id)}" if several else what,
            saves=_saved(rows, run_id, (category,), frames, scope),
            is_bound=True,
            confidence="upper bound",
            evidence=TITLES[section],
            section=section,
            who=who,
        )


def _saved(
    rows: pl.DataFrame,
    run_id: str,
    categories: tuple[str, ...],
    frames: Frames,
    scope: Scope,
) -> Saving:
    """Return accounts of a run as a saving, in the digits that they stand in above."""
    own = rows.filter(pl.col("run_id") == run_id)
    here = rows.filter(pl.col("category").is_in(categories))
    is_alone = here["run_id"].n_unique() == 1
    of_run = _told(own, categories, scope)
    on_page = _told(rows, categories, scope) if is_alone else of_run
    exact = _ledger.of(_ledger.accounts(own, scope), *categories).usd
    words = (on_page.said_usd(), of_run.said_share())
    return saving(exact, words, run_id, frames, scope)


def _told(rows: pl.DataFrame, categories: tuple[str, ...], scope: Scope) -> Shown:
    found = _ledger.accounts(rows, scope)
    unit = _ledger.unit_for(_ledger.paid(found).gpu_ns)
    return _ledger_shown.of(_ledger_shown.shown(found, unit), *categories)
