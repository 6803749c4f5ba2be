"""Where the time of a stop went, and how much of it was paid for."""

from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis.allocations import Allocations
from analysis.interruptions import Interruptions
from analysis.lost_time import LostTime

#: Marks of a stop in their order, and the phase that ends with each.
PHASES: Final = {
    "last_step_end_ns": "",
    "detected_ns": "until the first sign",
    "decided_ns": "until the attempt ended",
    "requeued_ns": "until it was submitted again",
    "started_ns": "until the next attempt started",
    "first_step_ns": "until its first new step",
}

#: Steps that were done already and are done again.
AGAIN: Final = "steps done again"

_STOP: Final = ["run_id", "attempt"]


def phases_of(frames: Frames, incident_id: str) -> pl.DataFrame:
    """Return the phases of each stop that is laid to an incident.

    A phase ends with a mark that is known, and begins with the one known before it. It
    costs what the run paid for meanwhile: nothing while it waits in a queue for nodes
    that are rented by the job.

    Args:
        frames: Interruptions, allocations and lost time.
        incident_id: The incident.

    Returns:
        `run_id`, `attempt`, `phase`, `from_ns`, `to_ns` (null of steps done again) and
        `gpu_ns`, in the order of time. [ns]
    """
    stops = frames[Interruptions].filter(Interruptions.incident_id.col == incident_id)
    spans = _spans(stops.collect())
    paid = _paid(spans, frames[Allocations])
    again = (
        frames[LostTime]
        .filter(LostTime.category.col == "recompute")
        .join(stops, on=_STOP, how="semi")
        .group_by(*_STOP)
        .agg(gpu_ns=LostTime.gpu_ns.col.sum().cast(pl.Int128))
        .with_columns(phase=pl.lit(AGAIN), order=pl.lit(len(PHASES), pl.Int64))
        .collect()
    )
    rows = pl.concat([paid, again], how="diagonal")
    return rows.sort(*_STOP, "order").select(
        *_STOP, "phase", "from_ns", "to_ns", "gpu_ns"
    )


def _spans(stops: pl.DataFrame) -> pl.DataFrame:
    """Return the time between each mark that is known and the one before it."""
    order = {mark: number for number, mark in enumerate(PHASES)}
    marks = stops.unpivot(
        list(PHASES), index=_STOP, variable_name="mark", value_name="at_ns"
    ).drop_nulls("at_ns")
    ordered = marks.with_columns(
        order=pl.col("mark").replace_strict(order, return_dtype=pl.Int64),
        phase=pl.col("mark").replace_strict(PHASES, return_dtype=pl.String),
    ).sort(*_STOP, "order")
    latest = pl.col("at_ns").cum_max().over(_STOP)
    spans = ordered.with_columns(to_ns=latest).with_columns(
        from_ns=pl.col("to_ns").shift(1).over(_STOP)
    )
    return spans.drop_nulls("from_ns").select(
        *_STOP, "order", "phase", "from_ns", "to_ns"
    )


def _paid(spans: pl.DataFrame, allocations: pl.LazyFrame) -> pl.DataFrame:
    """Add `gpu_ns`: the time that the run's GPUs were paid for in each span. [ns]"""
    held = allocations.select("run_id", held_from="from_ns", held_to="to_ns")
    start = pl.max_horizontal("from_ns", "held_from")
    shared = (pl.min_horizontal("to_ns", "held_to") - start).clip(0)
    sums = (
        spans.lazy()
        .join(held, on="run_id")
        .group_by(*_STOP, "order")
        .agg(gpu_ns=shared.cast(pl.Int128).sum())
        .collect()
    )
    joined = spans.join(sums, on=[*_STOP, "order"], how="left")
    return joined.with_columns(pl.col("gpu_ns").fill_null(0))
