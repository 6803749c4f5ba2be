"""What a replay tells of its trace, as rows."""

from typing import NamedTuple

import polars as pl

from analysis._analysis import Thresholds
from analysis._replay_causes import cause_of
from analysis._replay_scenarios import Scenarios
from analysis._replay_slowdowns import Slowdowns, slowdowns_of
from analysis._replay_steps import NotReplayable, Replay


class Answer(NamedTuple):
    """Rows of a trace.

    Attributes:
        trace: One row for the trace.
        cells: One row per kind, stage, replica and worker.
        steps: One row per step.
    """

    trace: pl.DataFrame
    cells: pl.DataFrame
    steps: pl.DataFrame


def refusal(one: NotReplayable) -> pl.DataFrame:
    """Return the row of a trace that cannot be replayed."""
    return pl.DataFrame(
        {
            "run_id": [one.run_id],
            "attempt": [one.attempt],
            "trace_id": [one.trace_id],
            "verdict": ["not_replayable"],
            "reason": [one.reason],
            "steps_replayed": [0],
            "steps_passed_over": [0],
            "steps_left_out": [one.steps],
            "replicas_left_out": [0],
            "operations_replayed": [0],
            "operations_left_out": [one.operations],
        }
    )


def answer(replay: Replay, thresholds: Thresholds) -> Answer:
    """Simulate a trace with one thing ideal at a time.

    Args:
        replay: Its steps.
        thresholds: Those of the analysis.
    """
    slow = slowdowns_of(Scenarios.of(replay))
    steps = replay.actual_steps().with_columns(
        simulated_ns=slow.steps,
        ideal_ns=pl.lit(slow.ideal_ns),
        slowdown_ratio=slow.steps / slow.ideal_ns,
    )
    trace = pl.DataFrame([_measures(replay, slow, steps, thresholds)])
    return Answer(trace, _named(replay, slow.cells), _named(replay, steps))


def _named(replay: Replay, rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(
        run_id=pl.lit(replay.run_id),
        attempt=pl.lit(replay.attempt),
        trace_id=pl.lit(replay.trace_id),
    )


def _measures(
    replay: Replay, slow: Slowdowns, steps: pl.DataFrame, thresholds: Thresholds
) -> dict[str, object]:
    cause = cause_of(slow, thresholds)
    actual, simulated = (
        float(steps[name].cast(pl.Float64).mean())  # type: ignore[arg-type]
        for name in ("actual_ns", "simulated_ns")
    )
    fidelity = abs(simulated - actual) / actual if actual else None
    is_near = fidelity is not None and fidelity <= thresholds["reliable_up_to"]
    is_reliable = is_near and not replay.doubts.partial()
    return {
        "run_id": replay.run_id,
        "attempt": replay.attempt,
        "trace_id": replay.trace_id,
        "verdict": "replayed",
        "reason": "; ".join(_limits(replay)) or None,
        **_counts(replay),
        "actual_ns": round(actual),
        "simulated_ns": round(simulated),
        "ideal_ns": slow.ideal_ns,
        "slowdown_ratio": slow.ratio,
        "waste_ratio": 1 - 1 / slow.ratio,
        "m_w_ratio": slow.m_w,
        "m_s_ratio": slow.m_s,
        "fidelity_ratio": fidelity,
        "is_reliable": is_reliable,
        "correlation": cause.correlation,
        "cause": cause.name,
        "evidence": cause.evidence,
    }


def _counts(replay: Replay) -> dict[str, object]:
    return {
        "steps_replayed": len(replay.steps),
        "steps_passed_over": replay.steps_passed_over,
        "steps_left_out": replay.steps_left_out,
        "replicas_left_out": replay.replicas_left_out,
        "operations_replayed": replay.operations.height,
        "operations_left_out": replay.operations_left_out,
        "stages": replay.operations["pp_rank"].n_unique(),
        "replicas": replay.shape[2],
    }


def _limits(replay: Replay) -> list[str]:
    """Return what is not told and was taken for granted."""
    told = []
    stages = replay.operations["pp_rank"].n_unique()
    if stages > 1 and not replay.graph.has_transfers:
        told.append("transfers between stages are not recorded: they take no time")
    if replay.steps_passed_over:
        told.append(
            "more operations than are held at once: some steps were simulated, evenly"
            " spread"
        )
    return [*replay.doubts.partial(), *told, *replay.doubts.notes()]
