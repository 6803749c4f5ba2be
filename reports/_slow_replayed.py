"""What a replay names where too few peers let a test of slow GPUs say nothing."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis.replays import ReplayCells, Replays
from reports._runs import of_runs
from reports._section import Scope
from reports._words import name

#: Causes of a replay that point at GPUs or their stage.
_NAMED: Final = ("worker", "stage", "last_stage")

#: Why there was no test, as a sentence begins; other reasons are said below it.
_REASONS: Final[Mapping[str, str]] = {
    "too_few_peers": "Too few peers to test which GPU was slow",
    "too_few_steps": "Too few steps to test which GPU was slow",
}

_OTHERWISE: Final = "Which GPU was slow could not be tested"


def heading(tests: pl.DataFrame, frames: Frames, scope: Scope) -> str:
    """Return what a replay names of a run without a test; empty where it names none.

    Args:
        tests: Rows of StragglerTests.
        frames: The tables.
        scope: Runs of the page.
    """
    row = _dearest(tests, frames, scope)
    if row is None:
        return ""
    why = _REASONS.get(_verdict(tests, row["run_id"]), _OTHERWISE)
    of = of_runs([row["run_id"]], scope)
    return f"{why}{of}; the replay names {_named(frames, row)}."


def paragraphs(tests: pl.DataFrame, frames: Frames, scope: Scope) -> list[str]:
    """Return how sure that is, and where it stands on the page.

    Args:
        tests: Rows of StragglerTests.
        frames: The tables.
        scope: Runs of the page.
    """
    row = _dearest(tests, frames, scope)
    if row is None:
        return []
    text = str(row["evidence"] or "").rstrip(".")
    more = f" {text[:1].upper()}{name(text, 400)[1:]}." if text else ""
    return [f"See Replay, which compares what traces recorded without a test.{more}"]


def _dearest(
    tests: pl.DataFrame, frames: Frames, scope: Scope
) -> dict[str, Any] | None:
    """Return the replay that names GPUs or a stage and costs most, of untested runs."""
    tested = tests.filter(pl.col("verdict") == "tested")["run_id"]
    rows = (
        scope.of_runs(frames[Replays])
        .filter(
            pl.col("is_reliable"),
            pl.col("cause").is_in(_NAMED),
            ~pl.col("run_id").is_in(tested.to_list()),
        )
        .sort(
            ["slowdown_ratio", "run_id", "attempt", "trace_id"],
            descending=[True, False, False, False],
        )
        .collect()
    )
    return rows.row(0, named=True) if rows.height else None


def _verdict(tests: pl.DataFrame, run_id: str) -> str:
    found = tests.filter(pl.col("run_id") == run_id)["verdict"].to_list()
    return str(found[0]) if found else ""


def _named(frames: Frames, row: Mapping[str, Any]) -> str:
    """Return the slowest worker or stage of a trace in words."""
    scope = "worker" if row["cause"] == "worker" else "stage"
    keys = ("run_id", "attempt", "trace_id")
    cells = frames[ReplayCells].filter(
        pl.col("scope") == scope,
        pl.col("slowdown_ratio").is_not_null(),
        *[pl.col(key) == row[key] for key in keys],
    )
    by = ["slowdown_ratio", "pp_rank", "dp_rank"]
    slowest = cells.sort(by, descending=[True, False, False]).head(1).collect()
    if slowest.is_empty():
        return "a slow worker" if scope == "worker" else "a slow stage"
    cell = slowest.row(0, named=True)
    if scope == "stage":
        return f"stage {cell['pp_rank']}, slower than the other stages"
    return f"rank {cell['rank']} (replica {cell['dp_rank']} of stage {cell['pp_rank']})"
