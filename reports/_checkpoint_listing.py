"""The tables of a run that saves."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.checkpoint_bursts import CheckpointBursts
from analysis.checkpoint_replays import CheckpointReplays
from reports import _checkpoint_burst_listing, _checkpoint_replay_listing
from reports._checkpoint_cells import query, share
from reports._checkpoint_shown import DASH, Row, Shown, every, per_day
from reports._numbers import duration, percent
from reports._section import Column, Listing, Scope

_METHODS: Final = {
    "in_use": "in use",
    "young": "Young",
    "daly": "Daly, higher order",
    "exact": "exact",
    "multi_level": "two tiers",
}


def listings(one: Shown, frames: Frames, scope: Scope) -> list[Listing]:
    """Return the tables of the run with most to win.

    Args:
        one: That run.
        frames: The tables.
        scope: Runs of the page.
    """
    mine = pl.col("run_id") == one.run_id
    replays = frames[CheckpointReplays].filter(mine).collect()
    bursts = frames[CheckpointBursts].filter(mine).collect()
    return [
        _plans(one, scope),
        *_checkpoint_replay_listing.listing(replays, scope),
        *_checkpoint_burst_listing.listing(bursts, scope),
    ]


def _plans(one: Shown, scope: Scope) -> Listing:
    rows = [one.plans[method] for method in _METHODS if method in one.plans]
    shared = _shared(rows)
    return Listing(
        title="Intervals between saves, and what they cost",
        columns=(
            Column("chosen by"),
            Column("interval", "Work between two saves.", is_number=True),
            Column("wasted", "Share of time without useful work.", is_number=True),
            Column("range", "Over the range of the MTBF.", is_number=True),
            Column(
                "saved a day",
                "Against the interval in use, on a day in which all GPUs of the run"
                " train, save and restart.",
                is_number=True,
            ),
            Column("limits"),
        ),
        rows=[_plan(row, one.run_id, scope, shared) for row in rows],
        more=" ".join(filter(None, [_of_all(shared), _no_advice(one)])),
        sql=query("checkpoint_plans", one.run_id),
    )


def _of_all(shared: str) -> str:
    return f"Of all rows: {shared}." if shared else ""


def _no_advice(one: Shown) -> str:
    return f"No interval here is advice: {one.withheld}." if one.withheld else ""


def _shared(rows: list[Row]) -> str:
    """Return the caveat that all numbers have, empty where they have none."""
    known = [row["reason"] or "" for row in rows if row["waste_ratio"] is not None]
    first = known[0] if known else ""
    return first if all(one.startswith(first) for one in known) else ""


def _plan(row: Row, run_id: str, scope: Scope, shared: str) -> tuple[str, ...]:
    saved = row["saved_gpu_ns_per_day"]
    is_used = row["method"] == "in_use"
    own = (row["reason"] or "").removeprefix(shared).removeprefix("; ")
    return (
        _METHODS[row["method"]],
        _intervals(row),
        share(row["waste_ratio"]),
        _ends(row["waste_low_ratio"], row["waste_high_ratio"]),
        DASH if is_used else per_day(saved, run_id, scope),
        "; ".join(filter(None, [_limit(row), own])),
    )


def _intervals(row: Row) -> str:
    if row["far_interval_ns"] is None:
        return every(row)
    return f"{every(row)}, far {duration(row['far_interval_ns'])}"


def _limit(row: Row) -> str:
    limits = {"flush": "not before the last save is safe", "step": "one step at least"}
    return limits.get(row["limited_by"] or "", "")


def _ends(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return DASH
    ends = ["unbounded" if end is None else percent(end) for end in (low, high)]
    return " to ".join(ends)
