"""Accounts that a repair could empty: each an upper bound of what it saves."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Final

import polars as pl

from analysis import Frames
from analysis.interruptions import Interruptions
from analysis.loss_phases import LossPhases
from analysis.overlap import Overlap
from reports import _causes, _ledger, _ledger_shown
from reports._ledger_shown import Shown
from reports._numbers import percent
from reports._partly import partly
from reports._repair import TITLES, Repair
from reports._savings import Saving, saving
from reports._section import Scope
from reports._words import name, plural
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
            saved, is_whole = _phases(rows, run_id, frames, scope)
            alone = len(scope.provenance.run_ids) == 1
            repair = _broken_one(
                "" if alone else f" of {name(run_id)}",
                saved or _saved(rows, run_id, _OF_STOPS, frames, scope),
                seen,
            )
            yield repair if is_whole else replace(repair, is_bound=False)


def _phases(
    rows: pl.DataFrame, run_id: str, frames: Frames, scope: Scope
) -> tuple[Saving | None, bool]:
    """Return what unplanned stops of a run cost, and whether that is known wholly.

    None where no phase is known. The accounts that stops fill hold more: the first
    start, and the end.
    """
    gpu_ns = LossPhases.gpu_ns.col
    lost, blank = (
        frames[LossPhases]
        .filter(LossPhases.run_id.col == run_id, LossPhases.account.col.is_not_null())
        .filter(LossPhases.stop.col.is_not_null() & ~LossPhases.planned.col)
        .select(gpu_ns.cast(pl.Int128).sum(), blank=gpu_ns.null_count())
        .collect()
        .row(0)
    )
    paid = int(rows.filter(pl.col("run_id") == run_id)["gpu_ns"].sum())
    if not lost or not paid:
        return None, not blank
    usd = dollars(int(lost), scope.price(run_id))
    share = percent(Decimal(int(lost)) / paid)
    said = partly(in_words(usd), has_known=True, is_whole=not blank)
    return saving(usd, (said, share), run_id, frames, scope), not blank


def _broken_one(of_run: str, saved: Saving, seen: pl.DataFrame) -> Repair:
    causes = seen.select(cause=pl.coalesce("component", "category")).to_series()
    few = seen.height < _FEW
    provided = seen["category"].is_in(_PROVIDED).any()
    return Repair(
        what=f"prevent {plural(seen.height, 'interruption')}{of_run}"
        f" ({_causes.caused(causes)})",
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
