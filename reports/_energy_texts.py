"""What is said of measured energy: its cost, its methods and its doubts."""

from decimal import Decimal
from typing import Final

import polars as pl

from analysis._energy_quality import MEANINGS
from reports._numbers import percent
from reports._section import Scope
from reports._words import listed, plural, said
from reports.dollars import energy_dollars, in_words

#: Below this the energy of a window is a lower bound rather than a measurement.
_COVERED_FROM: Final = 0.95


def paragraphs(measured: pl.DataFrame, rows: pl.DataFrame, scope: Scope) -> list[str]:
    """Return what energy costs, how it was measured, and what is to be doubted.

    Args:
        measured: Rows of Energy with an energy.
        rows: All of them.
        scope: Runs of the page, and their prices.
    """
    told = [_cost(measured, scope), _methods(measured), _peaks(measured), _doubts(rows)]
    return [text for text in told if text]


def _cost(measured: pl.DataFrame, scope: Scope) -> str:
    costs = [
        energy_dollars(float(energy), scope.price(run_id or ""))
        for run_id, energy in measured.select("run_id", "energy_j").iter_rows()
    ]
    priced = [cost for cost in costs if cost is not None]
    if not priced:
        return _unpriced(measured, scope)
    few = len(priced) < len(costs)
    of_all = f" ({len(priced)} of {len(costs)} windows)" if few else ""
    bare = all(scope.price(run_id or "").pue == 1 for run_id in measured["run_id"])
    without = ", without what the facility adds: no PUE on the run card" if bare else ""
    amount = in_words(sum(priced, Decimal()))
    return f"Electricity of owned GPUs: {amount}{of_all}{without}."


def _unpriced(measured: pl.DataFrame, scope: Scope) -> str:
    modes = {scope.price(run_id or "").mode for run_id in measured["run_id"]}
    if "owned" in modes:
        return "Electricity of owned GPUs has no price: usd_per_kwh on the run card."
    if modes:
        return "Rent already contains electricity: energy has no price of its own here."
    return ""


def _methods(measured: pl.DataFrame) -> str:
    counts = measured["method"].value_counts().sort("method")
    used = [
        f"{said(method)} for {plural(n, 'window')}" for method, n in counts.iter_rows()
    ]
    return (
        f"Measured by {listed(used)}; nothing is assumed across gaps." if used else ""
    )


def _peaks(measured: pl.DataFrame) -> str:
    if measured["peak_w"].drop_nulls().is_empty():
        return ""
    return (
        "Peaks are the greatest of instant and averaged readings; means are energy over"
        " time, so that the two may be of different readings."
    )


def _doubts(rows: pl.DataFrame) -> str:
    doubts = rows["quality"].drop_nulls().str.split(",").explode().str.strip_chars()
    counts = (
        doubts.filter(doubts != "")
        .value_counts(name="n")
        .sort(["n", "quality"], descending=[True, False])
    )
    reasons = [
        f"{said(reason)[:60]} ({plural(n, 'window')}{_meaning(reason)})"
        for reason, n in counts.iter_rows()
    ]
    low = rows.filter(pl.col("coverage_ratio") < _COVERED_FROM).height
    less = (
        f" {plural(low, 'window')} below {percent(_COVERED_FROM)} coverage: energy is a"
        " lower bound there."
        if low
        else ""
    )
    return f"Doubts: {listed(reasons, 5)}.{less}" if reasons else less.strip()


def _meaning(reason: str) -> str:
    """Return what a reason means; nothing of one that is not ours."""
    meaning = MEANINGS.get(reason)
    return f": {meaning}" if meaning else ""
