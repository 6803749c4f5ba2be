"""Accounts that a repair could empty: each an upper bound of what it saves."""

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from analysis import Frames
from analysis.overlap import Overlap
from reports import _ledger, _ledger_shown
from reports._ledger_shown import Shown
from reports._repair import TITLES, Repair
from reports._savings import Saving, saving
from reports._section import Scope
from reports._words import name

#: Accounts that a repair could empty at most: what to do, who acts, and the evidence.
_BOUNDS: Final[Mapping[str, tuple[str, str, str]]] = {
    "exposed_communication": ("hide communication behind compute", "us", "overlap"),
    "data_stall": ("feed input faster", "us", "lost_time"),
    "checkpoint_stall": ("write checkpoints beside training", "us", "lost_time"),
    "idle": ("close gaps between kernels", "user", "overlap"),
}


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
            saves=saved(rows, run_id, (category,), frames, scope),
            is_bound=True,
            confidence="upper bound",
            evidence=TITLES[section],
            section=section,
            who=who,
        )


def saved(
    rows: pl.DataFrame,
    run_id: str,
    categories: tuple[str, ...],
    frames: Frames,
    scope: Scope,
) -> Saving:
    """Return accounts of a run as a saving, in the digits that they stand in above.

    Args:
        rows: Rows of `_ledger.by_run`.
        run_id: The run.
        categories: Its accounts.
        frames: The tables.
        scope: Runs and prices of the page.
    """
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
