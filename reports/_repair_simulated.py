"""Repairs that only a simulation tells: stages, workers, links, micro-batches."""

from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

import polars as pl

from analysis import Frames
from reports import _repair_answers
from reports._numbers import percent
from reports._repair import TITLES, Repair
from reports._savings import saving
from reports._section import Scope
from reports._words import name
from reports.dollars import dollars, in_words

#: What to do, and who acts, by the scope of a repair.
_DO: Final[Mapping[str, tuple[str, str]]] = {
    "workers": ("repair or replace the slowest workers, {ranks}", "provider"),
    "stage": ("even out the stage of {ranks}", "us"),
    "sequence-lengths": ("pack sequences so that micro-batches cost alike", "us"),
    "link": ("repair {repair}", "provider"),
    "clocks": ("bring {ranks} to the clock of the job", "provider"),
    "gc": ("collect garbage at planned steps, all ranks together", "us"),
}

#: Scopes whose saving stands in others' already, where some rank was found slow.
_SAME_CAUSE: Final = ("workers", "clocks")


def simulated(
    slow: Collection[tuple[str, str]],
    rows: pl.DataFrame,
    answers: pl.DataFrame,
    frames: Frames,
    scope: Scope,
) -> Iterator[Repair]:
    """Yield repairs beyond noise that no slow GPU stands for.

    Args:
        slow: Runs and repairs of what was found slow.
        rows: Rows of `_ledger.by_run`.
        answers: Rows of `_repair_answers.answered`.
        frames: The tables.
        scope: Runs and prices of the page.
    """
    paid = dict(rows.group_by("run_id").agg(pl.col("gpu_ns").sum()).iter_rows())
    with_slow = {run_id for run_id, _ in slow}
    sure = answers.filter(pl.col("is_reliable") & pl.col("is_beyond_noise"))
    for row in sure.filter(pl.col("scope").is_in(list(_DO))).to_dicts():
        if int(row["saved_gpu_ns"]) > int(paid.get(row["run_id"], row["saved_gpu_ns"])):
            continue
        told = (row["run_id"], row["repair"]) in slow
        stands = row["scope"] in _SAME_CAUSE and row["run_id"] in with_slow
        if not told and not stands:
            yield _one(row, int(paid.get(row["run_id"], 0)), frames, scope)


def _one(row: Mapping[str, Any], paid_ns: int, frames: Frames, scope: Scope) -> Repair:
    saved_ns, run_id = int(row["saved_gpu_ns"]), str(row["run_id"])
    seen_ns = row["actual_ns"] * row["ranks_held"]
    share = percent(Decimal(saved_ns) / (paid_ns or seen_ns))
    usd = dollars(saved_ns, scope.price(run_id))
    do, who = _DO[row["scope"]]
    found = str(row["ranks"] or "unknown")
    ranks = f"{'rank' if found.isdigit() else 'ranks'} {name(found, 40)}"
    several = len(scope.provenance.run_ids) != 1
    what = do.format(ranks=ranks, repair=_repair_answers.called(row["repair"]))
    section = "replays" if row["method"] == "replay" else "stragglers"
    return Repair(
        what=f"{what} in {name(run_id)}" if several else what,
        saves=saving(usd, (in_words(usd), share), run_id, frames, scope),
        is_bound=row["is_bound"],
        confidence="upper bound" if row["is_bound"] else "good",
        evidence=TITLES[section],
        section=section,
        who=who,
    )
