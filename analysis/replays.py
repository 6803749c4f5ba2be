"""Replays of traced steps: how much slower than ideal they are, and why."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._replay import Layouts, NotReplayable, Replay, replays_of
from analysis._replay_answers import answer, refusal
from analysis._replay_causes import (
    CAUSES,
    CORRELATES_FROM,
    EXPLAINS_FROM,
    STRAGGLES_FROM,
)
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.runs import Runs
from ingest.tables import Operations, Table
from ingest.tables import _columns as c

#: Simulated steps that differ more from actual ones are marked; the published analysis
#: drops such traces (arXiv 2505.05713, section 3.4). [1]
RELIABLE_UP_TO: Final = 0.05


class Replays(Table):
    """One row per trace of operations, its steps run again in simulation."""

    key: ClassVar = ("run_id", "attempt", "trace_id")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    trace_id = c.identifier("Trace whose steps were simulated.")
    verdict = c.choice(
        "Whether steps could be simulated.", ("replayed", "not_replayable")
    )
    reason = c.text("Why not; or what limits it.")
    steps_replayed = c.tally("Steps that were simulated.")
    steps_passed_over = c.tally("Steps between those, where all are too many to hold.")
    steps_left_out = c.tally(
        "Steps with operations unlike most, or lengths impossible."
    )
    replicas_left_out = c.tally("Replicas whose operations differ from those of most.")
    operations_replayed = c.tally("Operations that were simulated.")
    operations_left_out = c.tally("Operations of kinds without a schedule, and such.")
    stages = c.tally("Pipeline stages.", nullable=True)
    replicas = c.tally("Data-parallel replicas.", nullable=True)
    actual_ns = c.duration_ns(
        "Mean length of a step, first start to last end.", nullable=True
    )
    simulated_ns = c.duration_ns(
        "Mean length of a step, simulated with measured operations.", nullable=True
    )
    ideal_ns = c.duration_ns(
        "Length of a step in which all operations of a kind take their mean (transfers"
        " their median): slow ones are in it, so that single repairs can beat it.",
        nullable=True,
    )
    slowdown_ratio = c.ratio("S: simulated over ideal length.", nullable=True)
    waste_ratio = c.ratio(
        "Share of a step's time that goes where all are alike: 1 - 1/S.",
        minimum=None,
        nullable=True,
    )
    m_w_ratio = c.ratio(
        "M_W: share of the slowdown that goes with the slowest 3 % of workers ideal;"
        " not clipped; null where there is no slowdown.",
        minimum=None,
        nullable=True,
    )
    m_s_ratio = c.ratio(
        "M_S: the same for the last stage; 0 of a single stage, null where the trace"
        " lacks the last one.",
        minimum=None,
        nullable=True,
    )
    fidelity_ratio = c.ratio(
        "Difference of simulated and actual length over the actual.", nullable=True
    )
    is_reliable = c.flag(
        "Whether that is small enough, and no replica and no last stage is missing.",
        nullable=True,
    )
    correlation = c.real(
        "Of passes forward and backward over the micro-batches of a step on a worker.",
        nullable=True,
    )
    cause = c.choice("What explains the slowdown.", CAUSES, nullable=True)
    evidence = c.text("What speaks for the cause, with numbers.")


class ReplayCells(Table):
    """One row per trace and kind, stage, replica or worker: what slows steps alone."""

    key: ClassVar = (
        "run_id",
        "attempt",
        "trace_id",
        "scope",
        "kind",
        "pp_rank",
        "dp_rank",
    )

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    trace_id = c.identifier("Trace whose steps were simulated.")
    scope = c.choice(
        "What keeps its measured lengths, all else ideal.",
        ("kind", "stage", "dp_rank", "worker"),
    )
    kind = c.identifier("Kind of operation, in ByteDance's words.", nullable=True)
    pp_rank = c.index("Pipeline stage.", nullable=True)
    dp_rank = c.index("Data-parallel replica.", nullable=True)
    rank = c.index("First global rank of the worker.", nullable=True)
    simulated_ns = c.duration_ns("Mean length of a step.")
    slowdown_ratio = c.ratio(
        "That over the ideal; of a worker the smaller of stage and replica."
    )


class ReplaySteps(Table):
    """One row per trace and step: its length as it was, simulated and ideal."""

    key: ClassVar = ("run_id", "attempt", "trace_id", "step")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    trace_id = c.identifier("Trace whose steps were simulated.")
    step = c.number("Step.")
    actual_ns = c.duration_ns("First start to last end.")
    simulated_ns = c.duration_ns("Simulated with measured operations.")
    ideal_ns = c.duration_ns("All operations of a kind alike.")
    slowdown_ratio = c.ratio("Simulated over ideal length.")


def replay_traces(
    operations: dy.LazyFrame[Operations],
    attempts: dy.LazyFrame[Attempts],
    thresholds: Thresholds,
    layouts: Layouts | None = None,
) -> Results:
    """Simulate the steps of every trace as they were and ideal, and name what differs.

    Args:
        operations: Operations of any number of traces.
        attempts: Attempts, for traces that do not tell theirs.
        thresholds: Those of the analysis.
        layouts: What run cards say of the layout, where they are known.

    Returns:
        Rows of Replays, ReplayCells and ReplaySteps, in the order of their keys.
    """
    replays = replays_of(operations, attempts, layouts=layouts)
    found = [_told(one, thresholds) for one in replays]
    return {
        table: _rows(table, [one[table] for one in found if table in one])
        for table in (Replays, ReplayCells, ReplaySteps)
    }


def _told(one: Replay | NotReplayable, thresholds: Thresholds) -> Results:
    if isinstance(one, NotReplayable):
        return {Replays: refusal(one)}
    told = answer(one, thresholds)
    return {Replays: told.trace, ReplayCells: told.cells, ReplaySteps: told.steps}


def _rows(table: type[Table], found: list[pl.DataFrame]) -> pl.DataFrame:
    if not found:
        return table.create_empty()
    names = table.column_names()
    rows = pl.concat(found, how="diagonal_relaxed")
    missing = [pl.lit(None).alias(name) for name in names if name not in rows.columns]
    told = rows.with_columns(missing).select(names)
    return table.validate(told.sort(table.key), cast=True)


def _compute(frames: Frames, thresholds: Thresholds) -> Results:
    layouts = Layouts(frames[Runs], frames[Gpus])
    return replay_traces(frames[Operations], frames[Attempts], thresholds, layouts)


ANALYSIS: Final = Analysis(
    name="replays",
    version=3,
    describes="How much slower than ideal traced steps are, by kind, stage and worker",
    inputs=(Operations, Attempts, Runs, Gpus),
    needs=(Operations,),
    outputs=(Replays, ReplayCells, ReplaySteps),
    compute=_compute,
    thresholds={
        "straggles_from": STRAGGLES_FROM,
        "explains_from": EXPLAINS_FROM,
        "correlates_from": CORRELATES_FROM,
        "reliable_up_to": RELIABLE_UP_TO,
    },
)
