"""Runs of which the own work of ranks is known, step by step."""

from dataclasses import replace
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._clock_shifts import clocks_of
from analysis._straggler_limits import Limits
from analysis._straggler_portions import Steps
from analysis._straggler_seats import seats_near, seats_of
from analysis._straggler_traced import traced_steps
from analysis._straggler_work import PORTION_ROWS, plan_portions, rank_steps
from analysis._whatif_steps import ROW, RunSteps, peers_of
from analysis.attempts import Attempts
from analysis.clock_offsets import ClockOffsets
from analysis.gpus import Gpus
from analysis.overlap import Overlap
from ingest.tables import Collectives, Kernels, StepTimings, Table

#: Tables that the steps of ranks are made from.
STEP_INPUTS: Final[tuple[type[Table], ...]] = (
    StepTimings,
    Kernels,
    Collectives,
    Attempts,
    Gpus,
    Overlap,
    ClockOffsets,
)


def runs_with_steps(
    frames: Frames, block_steps: int, portion_rows: int = PORTION_ROWS
) -> list[RunSteps]:
    """Return every run of which the own work of ranks is known, in order.

    Args:
        frames: Rows of STEP_INPUTS.
        block_steps: Steps of a block. [1]
        portion_rows: Steps of ranks to hold at once. [1]
    """
    attempts = frames[Attempts]
    traced = traced_steps(
        frames[Kernels],
        frames[Overlap],
        frames[Collectives],
        attempts,
        clocks_of(frames),
    )
    every = rank_steps(frames[StepTimings], traced.lazy(), attempts)
    plan = plan_portions(every, block_steps, portion_rows)
    seats = seats_of(seats_near(frames[Gpus], every, plan))
    steps = Steps(every, plan, seats, Limits())
    logged = _logged_runs(frames)
    known = plan.filter(pl.col("known") > 0)["run_id"].unique().sort()
    return [_of_run(run, steps, frames, is_logged=run in logged) for run in known]


def _logged_runs(frames: Frames) -> frozenset[str]:
    rows = frames[StepTimings].filter(
        StepTimings.wait_ns.col.is_not_null() & (StepTimings.scope.col == "rank")
    )
    return frozenset(rows.select("run_id").unique().collect().to_series())


def _of_run(run_id: str, steps: Steps, frames: Frames, *, is_logged: bool) -> RunSteps:
    of_run = pl.col("run_id") == run_id
    portion = pl.col("portion") - pl.col("portion").min()
    own = replace(
        steps,
        steps=steps.steps.filter(of_run),
        plan=steps.plan.filter(of_run).with_columns(portion=portion),
        seats=steps.seats.filter(of_run),
    )
    logged = _logged_parts(frames) if is_logged else _traced_parts(frames)
    parts = logged.filter(of_run)
    timed = own.steps.filter(pl.col("wait_ns").is_not_null())
    steps_seen = timed.select("attempt", "step").unique().select(pl.len())
    seen = _seen(timed, own.seats)
    sees_less = bool(seen["sees_less"].any()) and seen["dp_rank"].null_count() == 0
    return RunSteps(
        run_id=run_id,
        steps=own,
        parts=parts,
        seen=seen,
        ranks=seen["rank"].n_unique(),
        peers=peers_of(seen.lazy(), "dp_rank" if sees_less else "rank"),
        told=_told(own.steps, parts),
        stalls=_stalls(timed, parts),
        steps_seen=int(steps_seen.collect(engine="streaming").item()),
        is_traced=not is_logged,
        sees_replicas=sees_less,
    )


def _seen(timed: pl.LazyFrame, seats: pl.DataFrame) -> pl.DataFrame:
    """Return the ranks whose steps are known, when they were, and where they sit."""
    ranks = timed.group_by("attempt", "rank").agg(
        from_ns=pl.col("start_ns").min(),
        to_ns=(pl.col("start_ns") + pl.col("duration_ns")).max(),
        sees_less=(pl.col("wait_scope") == "dp").any(),
    )
    found = ranks.collect(engine="streaming").sort("attempt", "rank")
    by = ["attempt", "rank"]
    return found.join(seats, on=by, how="left", maintain_order="left")


def _told(steps: pl.LazyFrame, parts: pl.LazyFrame) -> frozenset[str]:
    """Return which parts are told of any rank."""
    data = steps.select(data_ns=(pl.col("data_ns") > 0).any())
    communication = pl.max_horizontal("communication_ns", "exposed_ns")
    others = parts.select(
        communication_ns=(communication > 0).any(),
        checkpoint_ns=(pl.col("checkpoint_ns") > 0).any(),
    )
    rows = [
        rows.collect(engine="streaming").row(0, named=True) for rows in (data, others)
    ]
    return frozenset(name for row in rows for name, is_told in row.items() if is_told)


def _stalls(timed: pl.LazyFrame, parts: pl.LazyFrame) -> int:
    """Return how many steps of all attempts stood still for a checkpoint. [1]"""
    stalled = parts.filter(pl.col("checkpoint_ns") > 0).select(ROW)
    steps = timed.join(stalled, on=list(ROW), how="semi").select("attempt", "step")
    return int(steps.unique().select(pl.len()).collect(engine="streaming").item())


def _logged_parts(frames: Frames) -> pl.LazyFrame:
    of_ranks = (StepTimings.scope.col == "rank") & StepTimings.rank.col.is_not_null()
    nothing = pl.lit(None, pl.Int64)
    rows = frames[StepTimings].filter(of_ranks)
    return rows.select(*ROW, "communication_ns", "checkpoint_ns", exposed_ns=nothing)


def _traced_parts(frames: Frames) -> pl.LazyFrame:
    of_steps = Overlap.step.col.is_not_null() & Overlap.rank.col.is_not_null()
    nothing = pl.lit(None, pl.Int64)
    return (
        frames[Overlap]
        .filter(of_steps)
        .select(
            *ROW,
            communication_ns=nothing,
            checkpoint_ns=nothing,
            exposed_ns="exposed_communication_ns",
        )
    )
