"""The runs that save, that with most to win first, and how their numbers are said."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

import polars as pl

from analysis import Frames
from analysis.checkpoint_evidence import CheckpointEvidence
from analysis.checkpoint_plans import CheckpointPlans
from reports._numbers import duration
from reports._section import Scope
from reports._words import plural
from reports.dollars import dollars, in_words

#: Shown where a number is not known.
DASH: Final = "\N{EN DASH}"

Row = Mapping[str, Any]


class Shown(NamedTuple):
    """A run that saves.

    Attributes:
        run: Its row of CheckpointEvidence.
        plans: Its rows of CheckpointPlans by method.
    """

    run: Row
    plans: Mapping[str, Row]

    @property
    def run_id(self) -> str:
        """Name of the run."""
        return str(self.run["run_id"])

    @property
    def gain_ratio(self) -> float | None:
        """Share of time that the best interval wins; None where not known. [1]"""
        used, best = (
            self.plans.get(method, {}).get("waste_ratio")
            for method in ("in_use", "exact")
        )
        return None if used is None or best is None else used - best

    @property
    def withheld(self) -> str:
        """Why the best interval is no advice, empty where it is."""
        return self.plans.get("exact", {}).get("withheld") or ""


def shown(frames: Frames, scope: Scope) -> list[Shown]:
    """Return the runs of the page that save, the one with most dollars to win first.

    Those whose best interval is no advice come after all others.

    Args:
        frames: The tables.
        scope: Runs of the page.
    """
    runs = scope.of_runs(frames[CheckpointEvidence]).sort("run_id").collect()
    plans = scope.of_runs(frames[CheckpointPlans]).sort("run_id").collect()
    by_run: dict[str, dict[str, Row]] = {}
    for plan in plans.iter_rows(named=True):
        by_run.setdefault(plan["run_id"], {})[plan["method"]] = plan
    found = [Shown(run, by_run.get(run["run_id"], {})) for run in _rows(runs)]
    return sorted(found, key=lambda one: _order(one, scope))


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return list(frame.iter_rows(named=True))


def _order(one: Shown, scope: Scope) -> tuple[bool, bool, Decimal, str]:
    best = one.plans.get("exact", {})
    saved = best.get("saved_gpu_ns_per_day")
    usd = dollars(int(saved), scope.price(one.run_id)) if saved is not None else 0
    is_unknown = best.get("interval_ns") is None
    return is_unknown, bool(one.withheld), Decimal(-usd), one.run_id


def per_day(saved: Decimal | None, run_id: str, scope: Scope) -> str:
    """Return what GPU time of a day is worth, with a minus sign where it is lost.

    Args:
        saved: GPU time of a day. [ns]
        run_id: Run that pays for it.
        scope: Runs of the page.
    """
    if saved is None:
        return DASH
    amount = in_words(dollars(int(saved), scope.price(run_id)))
    return amount.replace("-", "\N{MINUS SIGN}")


def every(row: Row) -> str:
    """Return an interval as time, and as steps where they are known.

    Args:
        row: Row with `interval_ns` and `interval_steps`.
    """
    if row["interval_ns"] is None:
        return DASH
    steps = row["interval_steps"]
    beside = f" ({plural(steps, 'step')})" if steps else ""
    return f"{duration(row['interval_ns'])}{beside}"
