"""Repairs and what each would save: the candidates for what to do first."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis._whatif_wishes import repair_of
from analysis.stragglers import StragglerRanks
from reports import (
    _ledger,
    _repair_answers,
    _repair_bounds,
    _repair_feed,
    _repair_nodes,
    _repair_saves,
    _repair_simulated,
    _repair_stops,
    _slow_ranks,
)
from reports._numbers import percent
from reports._repair import TITLES, Repair
from reports._savings import Saving, saving
from reports._section import Scope
from reports._words import name, said
from reports.dollars import dollars, in_words

#: A run, and the text of a repair.
Key = tuple[str, str]

#: q-value from which a slow GPU is beyond doubt.
_SURE_Q: Final = 1e-4

#: What mends a cause, where it is not the GPU itself.
_MENDS: Final[Mapping[str, str]] = {
    "power_cap": "lift the power cap of",
    "power_brake": "find who brakes the power of",
    "thermal_slowdown": "cool",
    "stage_imbalance": "even out",
    "data_loading": "feed input faster to",
}


def candidates(frames: Frames, scope: Scope) -> list[Repair]:
    """Return every repair that saves something, the largest saving first."""
    rows = _ledger.by_run(frames, scope)
    answers = _repair_answers.answered(frames, scope)
    slow = _grouped(frames, scope)
    found = [
        *_slow(slow, rows, answers, frames, scope),
        *_repair_simulated.simulated(set(slow), rows, answers, frames, scope),
        *_repair_stops.broken(rows, frames, scope),
        *_repair_bounds.bounds(rows, frames, scope),
        *_repair_saves.intervals(rows, frames, scope),
        *_repair_nodes.lemons(rows, frames, scope),
        *_repair_feed.feeds(rows, frames, scope),
    ]
    return sorted(found, key=lambda repair: (-repair.saves.usd, repair.what))


def _grouped(frames: Frames, scope: Scope) -> dict[Key, list[dict[str, Any]]]:
    """Return the spells of what was found slow by run and repair, the dearest first."""
    slow = scope.of_runs(frames[StragglerRanks]).filter(pl.col("lost_gpu_ns") > 0)
    order = ["run_id", "lost_gpu_ns", "scope", "scope_id", "first_step"]
    ordered = slow.sort(order, descending=[False, True, False, False, False]).collect()
    groups: dict[Key, list[dict[str, Any]]] = {}
    for row in ordered.to_dicts():
        groups.setdefault((row["run_id"], repair_of(row).text), []).append(row)
    return groups


def _slow(
    slow: Mapping[Key, list[dict[str, Any]]],
    rows: pl.DataFrame,
    answers: pl.DataFrame,
    frames: Frames,
    scope: Scope,
) -> Iterator[Repair]:
    """Yield what repairing each slow thing saves: the what-if answer where there is.

    Nobody can save more than was paid: such a saving comes from damaged times.
    """
    paid = dict(rows.group_by("run_id").agg(pl.col("gpu_ns").sum()).iter_rows())
    told = _repair_answers.by_repair(answers)
    for key, spells in slow.items():
        lost = sum(int(row["lost_gpu_ns"]) for row in spells)
        answer = told.get(key, {})
        whole = int(paid.get(key[0], 0))
        saved = int(lost if not answer else answer["saved_gpu_ns"] or 0)
        if not 0 < saved <= (whole or saved):
            continue
        usd = dollars(saved, scope.price(key[0]))
        share = percent(Decimal(saved) / whole) if whole else "a share"
        doubt = answer.get("doubt") or ""
        yield _slow_one(
            spells[0],
            saving(usd, (in_words(usd), share), key[0], frames, scope),
            doubt,
        )


def _slow_one(row: Mapping[str, Any], saves: Saving, doubt: str) -> Repair:
    slowdown = float(row["slowdown_ratio"]) - 1
    cause = str(row["cause"])
    mend = _MENDS.get(cause, "repair or replace")
    known = "" if cause in {"unknown", *_MENDS} else f" ({name(said(cause))})"
    sure = "high" if float(row["q_value"]) <= _SURE_Q else "good"
    return Repair(
        what=f"{mend} {_slow_ranks.who(row, at_start=False)},"
        f" {percent(slowdown)} slow{known}",
        saves=saves,
        is_bound=False,
        confidence=f"low: {name(doubt, 80)}" if doubt else sure,
        evidence=TITLES["stragglers"],
        section="stragglers",
        who="provider" if row["scope"] in {"gpu", "host", "rack"} else "us",
    )
