"""Why steps take longer than they need: their replay with all operations alike."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis.replays import ANALYSIS, ReplayCells, Replays
from reports import _replay_heat, _replay_kinds, _replay_listing
from reports._numbers import duration, percent
from reports._runs import of_runs
from reports._section import Content, Scope, Section
from reports._words import name, plural

_HINT: Final = (
    "Traces of training operations on all stages of a pipeline tell it: forward,"
    " backward, sends, receives and collectives, as NDTimeline, MegaScan or the"
    " published StragglerAnalysis write them."
)

#: What a cause is, in the heading.
_CAUSES: Final[Mapping[str, str]] = {
    "sequence_length": "sequences of unequal length",
    "garbage_collection": "pauses of garbage collection",
    "last_stage": "a last stage with too much work",
    "stage": "a stage slower than others",
    "communication": "slow transfers",
    "mixed": "no single cause",
    "undecided": "no cause that can be told",
}


_STRAGGLES_FROM: Final = ANALYSIS.thresholds["straggles_from"]


def build(frames: Frames, scope: Scope) -> Content:
    """Return how much longer than ideal traced steps take, and the cause."""
    traces = _traces(frames, scope)
    if traces.is_empty():
        return Content(
            heading="How long steps would take with all operations alike is not known.",
            empty=_HINT,
        )
    row = traces.row(0, named=True)
    if row["slowdown_ratio"] is None:
        return Content(
            heading=f"No traced step could be simulated: {name(row['reason'], 120)}.",
            listings=[_replay_listing.listing(traces, scope)],
            empty=_HINT,
        )
    workers = _replay_heat.of_trace(frames, row, "worker")
    charts = [*_replay_heat.chart(frames, row), *_replay_kinds.chart(frames, row)]
    return Content(
        heading=_heading(row, workers, scope),
        paragraphs=[*_evidence(row, workers), *_limits(row, traces)],
        charts=charts,
        listings=[_replay_listing.listing(traces, scope)],
    )


def _traces(frames: Frames, scope: Scope) -> pl.DataFrame:
    """Return traces: those that can be relied on first, then the slowest first."""
    by = ["run_id", "attempt", "trace_id"]
    rows = scope.of_runs(frames[Replays]).collect()
    order = ["slowdown_ratio", *by]
    ordered = rows.sort(order, descending=[True, *[False] * 3], nulls_last=True)
    return ordered.sort(
        "is_reliable", descending=True, nulls_last=True, maintain_order=True
    )


def _heading(row: Mapping[str, Any], workers: pl.DataFrame, scope: Scope) -> str:
    steps = f"Steps{of_runs([row['run_id']], scope)}"
    times = f"{row['slowdown_ratio']:.2f} times as long"
    off = percent(row["fidelity_ratio"])
    if not row["is_reliable"] and _is_near(row):
        return (
            f"Steps seem to take {times} as with all operations alike, but a part of"
            " the job is not in the trace: what they wait for is not known."
        )
    if not row["is_reliable"]:
        return (
            f"{steps} seem to take {times} as with all operations alike, but the"
            f" simulation is off by {off}: too far to be relied on."
        )
    if row["cause"] == "not_straggling":
        return (
            f"{steps} take {row['slowdown_ratio']:.3f} times what they would with all"
            f" operations alike: a job straggles from {_STRAGGLES_FROM:g}."
        )
    lost = duration(row["simulated_ns"] - row["ideal_ns"])
    return (
        f"{steps} take {times} as with all operations alike, {lost} more each:"
        f" {_slowest(workers) if row['cause'] == 'worker' else _CAUSES[row['cause']]}."
    )


def _is_near(row: Mapping[str, Any]) -> bool:
    """Whether simulated steps are near enough to actual ones."""
    off = row["fidelity_ratio"]
    return off is not None and off <= ANALYSIS.thresholds["reliable_up_to"]


def _slowest(workers: pl.DataFrame) -> str:
    """Return the slowest 3 % of workers in words, the slowest by name."""
    who = _first(workers)
    if -(-3 * workers.height // 100) == 1:
        return f"one slow worker, {who}"
    return f"the slowest 3 % of workers, first {who}"


def _first(workers: pl.DataFrame) -> str:
    ordered = workers.sort("slowdown_ratio", "rank", descending=[True, False])
    row = ordered.row(0, named=True)
    return f"replica {row['dp_rank']} of stage {row['pp_rank']} (rank {row['rank']})"


def _evidence(row: Mapping[str, Any], workers: pl.DataFrame) -> list[str]:
    if row["cause"] != "not_straggling":
        return [f"{row['evidence'][:1].upper()}{name(row['evidence'], 400)[1:]}."]
    if workers.is_empty():
        return []
    worst = float(str(workers["slowdown_ratio"].max()))
    text = f"{_first(workers)}, alone makes them {worst:.3f} times as long."
    return [f"The slowest worker, {text}"]


def _limits(row: Mapping[str, Any], traces: pl.DataFrame) -> list[str]:
    most = percent(ANALYSIS.thresholds["reliable_up_to"])
    simulated, actual, ideal = (
        duration(row[f"{what}_ns"]) for what in ("simulated", "actual", "ideal")
    )
    off, lost = percent(row["fidelity_ratio"]), percent(max(row["waste_ratio"], 0.0))
    steps = plural(row["steps_replayed"], "step")
    text = (
        f"Simulated with measured operations a step takes {simulated}, in fact"
        f" {actual} (mean of {steps}): off by {off}, and up to {most} is relied on."
        f" Ideal is {ideal}, so that {lost} of the time is lost to operations that are"
        " not alike."
    )
    said = [text]
    if row["reason"]:
        said.append(f"Limits: {name(row['reason'], 400)}.")
    if row["steps_left_out"]:
        said.append(
            f"{plural(row['steps_left_out'], 'step')} left out, whose operations differ"
            " from those of most steps or have lengths that cannot be."
        )
    unfit = traces.filter(pl.col("verdict") == "not_replayable").height
    if unfit:
        said.append(f"{plural(unfit, 'trace')} could not be simulated; see the table.")
    return said


SECTION: Final = Section("replays", "Replay", (Replays, ReplayCells), build)
