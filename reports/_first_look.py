"""Where to look first, where that is no saving: hangs, and replays not relied on."""

import polars as pl

from analysis import Frames
from analysis.hangs import Hangs, HangSuspects
from analysis.whatif import WhatIf
from reports import _hang_listing
from reports._runs import of_runs
from reports._section import Scope
from reports._words import listed, name, plural


def hung(frames: Frames, scope: Scope) -> str:
    """Return which ranks to look at, as a sentence goes on; empty without a hang.

    Args:
        frames: The tables.
        scope: Runs of the page.
    """
    hangs = scope.of_runs(frames[Hangs]).collect()
    if hangs.is_empty():
        return ""
    by = ["last_ns", "run_id", "hang_id"]
    last = hangs.sort(by, nulls_last=False).tail(1)
    key = ["run_id", "attempt", "hang_id"]
    ours = frames[HangSuspects].collect().join(last, on=key, how="semi")
    named = ours.filter("is_candidate").sort("rank", "rank_in_group")
    whose = of_runs(last["run_id"].to_list(), scope)
    if named.is_empty():
        return f"look at the hang{whose}: see Hangs"
    ranks = [_hang_listing.rank_name(row) for row in named.to_dicts()]
    noun = "rank" if len(ranks) == 1 else "ranks"
    began = f"a hang{whose} began there" if whose else "the hang began there"
    return f"look at {noun} {listed(ranks, 4)}: {began} (see Hangs)"


def withheld(frames: Frames, scope: Scope) -> list[str]:
    """Return that savings by replay are withheld, of the runs they are withheld of.

    Args:
        frames: The tables.
        scope: Runs of the page.
    """
    replayed = scope.of_runs(frames[WhatIf]).filter(
        (pl.col("method") == "replay") & pl.col("is_reliable").is_not_null()
    )
    by_run = replayed.group_by("run_id").agg(
        pl.col("is_reliable").any(), doubt=pl.col("doubt").drop_nulls().min()
    )
    doubted = by_run.filter(~pl.col("is_reliable")).sort("run_id").collect()
    runs = doubted["run_id"]
    if runs.is_empty():
        return []
    why = doubted["doubt"][0] or "the simulation cannot be relied on"
    of = of_runs(runs.to_list(), scope) or (
        "" if len(runs) == 1 else f" of {plural(len(runs), 'run')}"
    )
    return [
        (f"Savings by replay{of} are withheld: {name(str(why), 200)} (see Replay).")
    ]
