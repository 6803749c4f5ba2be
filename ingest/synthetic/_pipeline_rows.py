"""Rows of the table of operations from a simulated pipeline."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import polars as pl

from ingest.synthetic._pipeline_lengths import Times
from ingest.synthetic._pipeline_schedule import Place
from ingest.tables import Operations

if TYPE_CHECKING:
    from ingest.synthetic.pipeline import Pipeline, Simulation

#: Kinds of operations in the words of StragglerAnalysis (arXiv 2505.05713).
_COMPUTE: Final = {True: "forward-compute", False: "backward-compute"}
_SEND: Final = {True: "forward-send", False: "backward-send"}
_RECEIVE: Final = {True: "forward-recv", False: "backward-recv"}

#: What each stage does once in a step.
_WHOLE: Final = ("params-all-gather", "grads-reduce-scatter", "optimizer")

#: What a line tells of its operations.
_TOLD: Final = {
    "kind": pl.String,
    "pp_rank": pl.Int32,
    "microbatch": pl.Int32,
    "chunk": pl.Int32,
    "sequence": pl.Int64,
}


class _Line(NamedTuple):
    """Equal operations of all steps and replicas; times since the step's beginning."""

    kind: str
    stage: int
    microbatch: int | None
    chunk: int | None
    sequence: int
    start: Times
    end: Times


def operations(
    simulation: "Simulation",
    *,
    run_id: str = "r",
    trace_id: str = "t",
    is_dated: bool = True,
) -> pl.DataFrame:
    """Return the operations of a simulated pipeline, as rows of Operations.

    As in published traces, sends and receives tell neither micro-batch nor chunk; they
    are counted in `sequence`, by worker and direction.

    Args:
        simulation: What became of the pipeline.
        run_id: Run that the rows name.
        trace_id: Trace that the rows name.
        is_dated: Whether starts are on the calendar, else since their step began.
    """
    lines = [
        *(line for kind in _WHOLE for line in _whole(simulation, kind)),
        *(line for kind in (True, False) for line in _computed(simulation, kind)),
        *(line for kind in (True, False) for line in _moved(simulation, kind)),
    ]
    begun = step_starts(simulation) if is_dated else None
    rows = _spread(lines, simulation.pipeline, begun)
    names = {"file_id": "f", "run_id": run_id, "attempt": 0, "trace_id": trace_id}
    named = rows.with_columns(**{key: pl.lit(value) for key, value in names.items()})
    schema = Operations.create_empty().schema
    blank = [name for name in schema if name not in named.columns]
    full = named.with_columns(pl.lit(None).alias(name) for name in blank)
    return full.select(pl.col(name).cast(kind) for name, kind in schema.items())


def step_starts(simulation: "Simulation") -> Times:
    """Return when each step began. [ns]"""
    pipeline = simulation.pipeline
    lengths = simulation.step_ns + pipeline.between_ns
    begun = np.cumsum(lengths) - lengths + pipeline.begun_ns
    return np.asarray(begun, np.int64)


def _whole(simulation: "Simulation", kind: str) -> Iterator[_Line]:
    """Yield what each stage does once in a step."""
    clock = simulation.clock
    times = (clock.gathered, clock.scattered, clock.optimized)[_WHOLE.index(kind)]
    chunk = None if kind == "optimizer" else 0
    for stage, (start, end) in enumerate(times):
        yield _Line(kind, stage, None, chunk, 0, start, end)


def _computed(simulation: "Simulation", is_forward: bool) -> Iterator[_Line]:
    clock = simulation.clock
    for stage, tasks in enumerate(clock.order):
        same = [task for task in tasks if task.is_forward is is_forward]
        for number, task in enumerate(same):
            at = Place(stage, task)
            name = (task.microbatch, task.chunk, number)
            yield _Line(_COMPUTE[is_forward], stage, *name, *clock.tasks[at])


def _moved(simulation: "Simulation", is_forward: bool) -> Iterator[_Line]:
    """Yield sends and receives, those of a stage in the order of their tasks."""
    clock = simulation.clock
    for kinds, times in ((_SEND, clock.sends), (_RECEIVE, clock.receives)):
        for stage, tasks in enumerate(clock.order):
            same = (Place(stage, one) for one in tasks if one.is_forward is is_forward)
            moved = [times[place] for place in same if place in times]
            for number, (start, end) in enumerate(moved):
                yield _Line(kinds[is_forward], stage, None, None, number, start, end)


def _spread(
    lines: list[_Line], pipeline: "Pipeline", begun: Times | None
) -> pl.DataFrame:
    """Return a row for each line, step and replica."""
    shape = (len(lines), pipeline.steps, pipeline.replicas)
    told = pl.DataFrame([line[:5] for line in lines], schema=_TOLD, orient="row")
    line, step, replica = (axis.ravel() for axis in np.indices(shape, np.int32))
    starts = np.stack([one.start for one in lines])
    lengths = np.stack([one.end for one in lines]) - starts
    dated = starts if begun is None else starts + begun[:, np.newaxis]
    named = told.select(pl.all().gather(pl.Series(line)))
    return named.with_columns(
        step=pl.Series(step) + pipeline.first_step,
        dp_rank=pl.Series(replica),
        rank=pl.col("pp_rank") * pipeline.replicas + pl.Series(replica),
        duration_ns=pl.Series(lengths.ravel()),
        **{"offset_ns" if begun is None else "start_ns": pl.Series(dated.ravel())},
    )
