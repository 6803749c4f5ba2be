"""Repairs and what each would save: the candidates for what to do first."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

import polars as pl

from analysis import Frames
from analysis.stragglers import StragglerRanks
from reports import _ledger, _repair_bounds, _slow_ranks
from reports._numbers import percent
from reports._repair import TITLES, Repair
from reports._savings import saving
from reports._section import Scope
from reports._words import name, said
from reports.dollars import dollars, in_words

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
    found = [
        *_slow(rows, frames, scope),
        *_repair_bounds.broken(rows, frames, scope),
        *_repair_bounds.bounds(rows, frames, scope),
    ]
    return sorted(found, key=lambda repair: (-repair.saves.usd, repair.what))


def _slow(rows: pl.DataFrame, frames: Frames, scope: Scope) -> list[Repair]:
    slow = scope.of_runs(frames[StragglerRanks]).filter(pl.col("lost_gpu_ns") > 0)
    ordered = slow.sort("run_id", "scope", "scope_id").collect()
    paid = dict(rows.group_by("run_id").agg(pl.col("gpu_ns").sum()).iter_rows())
    return [
        _slow_one(row, int(paid.get(row["run_id"], 0)), frames, scope)
        for row in ordered.to_dicts()
    ]


def _slow_one(
    row: Mapping[str, object], paid_ns: int, frames: Frames, scope: Scope
) -> Repair:
    run_id = str(row["run_id"])
    slowdown = float(str(row["slowdown_ratio"])) - 1
    cause = str(row["cause"])
    mend = _MENDS.get(cause, "repair or replace")
    known = "" if cause in {"unknown", *_MENDS} else f" ({name(said(cause))})"
    lost_ns = int(str(row["lost_gpu_ns"]))
    usd = dollars(lost_ns, scope.price(run_id))
    share = percent(Decimal(lost_ns) / paid_ns) if paid_ns else "a share"
    return Repair(
        what=f"{mend} {_slow_ranks.who(row, at_start=False)},"
        f" {percent(slowdown)} slow{known}",
        saves=saving(usd, (in_words(usd), share), run_id, frames, scope),
        is_bound=False,
        confidence="high" if float(str(row["q_value"])) <= _SURE_Q else "good",
        evidence=TITLES["stragglers"],
        section="stragglers",
        who="provider" if row["scope"] in {"gpu", "host", "rack"} else "us",
    )
