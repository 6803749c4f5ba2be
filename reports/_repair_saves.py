"""A better interval between checkpoints: what it would save of what was paid."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

import polars as pl

from analysis import Frames
from analysis.checkpoint_plans import CheckpointPlans
from reports._numbers import duration, percent
from reports._repair import TITLES, Repair
from reports._savings import saving
from reports._section import Scope
from reports._words import name
from reports.dollars import dollars, in_words

#: Less of the time than this is not worth a change. [1]
_LEAST: Final = 0.001

#: What a change is saved of, as said.
_CAPS: Final = {
    "checkpoint_stall": "the stalls that were seen",
    "recompute": "the steps that were seen done again",
}


class _Change(NamedTuple):
    """A better interval: what it saves of what its run paid for its ranks. [ns]"""

    run_id: str
    used: Mapping[str, Any]
    best: Mapping[str, Any]
    saved_ns: int
    paid_ns: int
    confidence: str


def intervals(rows: pl.DataFrame, frames: Frames, scope: Scope) -> Iterator[Repair]:
    """Yield for each run what the best interval would save.

    The share of time that it saves is taken of what the run paid for its ranks: GPUs in
    reserve save nothing. It is no more than what it is saved of: stalls, where saves
    become fewer, else steps done again.

    Args:
        rows: Rows of `_ledger.by_run`.
        frames: The tables.
        scope: Runs and prices of the page.
    """
    plans = scope.of_runs(frames[CheckpointPlans]).collect()
    in_use = rows.filter(pl.col("category") != "unallocated")
    paid = dict(in_use.group_by("run_id").agg(pl.col("gpu_ns").sum()).iter_rows())
    held = {
        (run_id, account): int(gpu_ns)
        for run_id, account, gpu_ns in rows.select(
            "run_id", "category", "gpu_ns"
        ).iter_rows()
    }
    for run_id, gpu_ns in sorted(paid.items()):
        used, best = _pair(plans.filter(pl.col("run_id") == run_id))
        if not used or not best or not gpu_ns:
            continue
        share = used["waste_ratio"] - best["waste_ratio"]
        if share < _LEAST:
            continue
        account = _account(used, best)
        whole = round(share * int(gpu_ns))
        saved = min(whole, held.get((run_id, account), 0))
        why = _confidence(best, account if saved < whole else "")
        if saved > 0:
            change = _Change(run_id, used, best, saved, int(gpu_ns), why)
            yield _one(change, frames, scope)


def _confidence(best: Mapping[str, Any], capped_by: str) -> str:
    """Return how sure a saving is, and what it is no more than."""
    limits = [f"low: {name(best['reason'], 80)}"] if best["reason"] else []
    if capped_by:
        limits.append(f"no more than {_CAPS[capped_by]} took")
    return "; ".join(limits) or "good"


def _account(used: Mapping[str, Any], best: Mapping[str, Any]) -> str:
    """Return what the change saves of: stalls where fewer, else steps done again."""
    is_longer = best["interval_ns"] > used["interval_ns"]
    return "checkpoint_stall" if is_longer else "recompute"


def _pair(plans: pl.DataFrame) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the interval in use, and of those that are advice the one to take."""
    known = plans.drop_nulls(["interval_ns", "waste_ratio"])
    used = known.filter(pl.col("method") == "in_use").to_dicts()
    others = known.filter((pl.col("method") != "in_use") & pl.col("withheld").is_null())
    # of methods that save alike the exact one is told
    order = [pl.col("waste_ratio").round(4), pl.col("method") != "exact", "method"]
    best = others.sort(order).head(1).to_dicts()
    return (used[0] if used else None), (best[0] if best else None)


def _one(change: _Change, frames: Frames, scope: Scope) -> Repair:
    used, best, run_id = change.used, change.best, change.run_id
    usd = dollars(change.saved_ns, scope.price(run_id))
    share = percent(Decimal(change.saved_ns) / change.paid_ns)
    of_run = f", in {name(run_id)}" if len(scope.provenance.run_ids) != 1 else ""
    far = best["far_interval_ns"]
    levels = f" on the node and every {duration(far)} far" if far else ""
    return Repair(
        what=f"save every {duration(best['interval_ns'])}{levels}, not every"
        f" {duration(used['interval_ns'])}{of_run}",
        saves=saving(usd, (in_words(usd), share), run_id, frames, scope),
        is_bound=False,
        confidence=change.confidence,
        evidence=TITLES["checkpoint_plans"],
        section="checkpoint_plans",
        who="us",
    )
