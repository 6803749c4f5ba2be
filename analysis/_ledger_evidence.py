"""What was seen of each run: steps that it timed, and work in its traces."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._ledger_clock import on_a_clock
from analysis._ledger_log import StepLog
from analysis._overlap_windows import bounds_of_steps
from analysis._replay_room import OUTLASTS_FROM
from analysis._step_rollup_log import seats_of_hours
from analysis._step_times import MOMENT, clock_of, number_times
from analysis.placing import place
from ingest.tables import Collectives, Operations

#: What tells a traced step of a rank and its bounds, with the types of all.
TRACED_TYPES: Final = {
    "run_id": pl.String,
    "attempt": pl.Int32,
    "trace_id": pl.String,
    "device": pl.Int32,
    "rank": pl.Int32,
    "step": pl.Int64,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
}

#: No traced step.
NO_TRACES: Final = pl.DataFrame(schema=TRACED_TYPES)

_TRACED: Final = tuple(TRACED_TYPES)[:-2]

_BOUNDS: Final = (pl.col("start_ns").min(), pl.col("end_ns").max())


def traced_work(
    kernels: pl.LazyFrame, operations: pl.LazyFrame, collectives: pl.LazyFrame
) -> pl.LazyFrame:
    """Return the bounds of the work of each trace, device and step.

    Operations are those of all ranks in the same steps, which they begin and leave
    together, whatever file each wrote: each rank has the bounds of all.

    Returns:
        Columns run_id, attempt, trace_id, device, rank, step (null: in no step),
        start_ns and end_ns. [ns]
    """
    on_gpu = bounds_of_steps(kernels).lazy().rename({"first_ns": "start_ns"})
    finish = Operations.start_ns.col + Operations.duration_ns.col
    timed = on_a_clock(operations.with_columns(clock=clock_of()))
    done = timed.with_columns(end_ns=finish, device=pl.lit(None, pl.Int32))
    end = pl.coalesce(Collectives.end_ns.col, Collectives.start_ns.col)
    joined = collectives.drop_nulls("start_ns").with_columns(end_ns=end)
    columns = [*_TRACED, "start_ns", pl.col("last_ns").alias("end_ns")]
    last = pl.col("start_ns").max().alias("last_ns")
    own = _bounded(done.group_by(*_TRACED, "clock").agg(*_BOUNDS, last))
    step = [*MOMENT, "time"]
    together = number_times(own).select(
        *_TRACED, pl.col("start_ns").min().over(step), pl.col("end_ns").max().over(step)
    )
    others = joined.group_by(_TRACED).agg(_BOUNDS)
    return pl.concat([on_gpu.select(columns), together, others]).collect().lazy()


def _bounded(own: pl.LazyFrame) -> pl.LazyFrame:
    """Cut ends that cannot be: a rank has ended a step when it is well in the next.

    The last step of a rank ends within some lengths of what its trace holds.

    Args:
        own: Bounds of the steps of ranks, and last_ns, the last start in each. [ns]
    """
    trace = ("run_id", "attempt", "trace_id", "clock")
    start, end, last = (pl.col(name) for name in ("start_ns", "end_ns", "last_ns"))
    latest, first = last.max().over(trace), start.min().over(trace)
    span = (latest - first).cast(pl.Float64)
    following = last.shift(-1).over(*trace, "rank", order_by="start_ns")
    is_endless = (span > 0) & ((end - latest).cast(pl.Float64) > OUTLASTS_FROM * span)
    cut = (
        pl.when(following >= last)
        .then(pl.min_horizontal(end, following))
        .when(is_endless)
        .then(last)
        .otherwise(end)
    )
    return own.with_columns(end_ns=cut).drop("last_ns")


@dataclass(frozen=True, slots=True)
class Marks:
    """Where each step was seen: in the step log, in traces where a run has none.

    Going through them gives frames with the columns run_id, attempt, seat (a rank,
    negative for a trace that does not tell its rank, null for the mean over the run),
    step, start_ns, end_ns, ranks (that a mean stands for, else null) and step_basis.
    All rows of a seat are in one frame.

    Attributes:
        log: The step logs.
        traced: What `traced_work` returns.
    """

    log: StepLog
    traced: pl.LazyFrame

    def __iter__(self) -> Iterator[pl.LazyFrame]:
        """Go through the portions of the log, then through the traces."""
        for portion in self.log:
            yield mark_log(portion)
        yield self._of_traces()

    def _of_traces(self) -> pl.LazyFrame:
        trace = -pl.col("trace_id").rank("dense").cast(pl.Int64)
        steps = self.traced.filter(pl.col("step").is_not_null())
        sampled = (
            steps.with_columns(seat=pl.coalesce("rank", trace))
            .group_by("run_id", "attempt", "trace_id", "seat", "step")
            .agg(_BOUNDS)
            .drop("trace_id")
        )
        others = sampled.join(self.log.runs.lazy(), on="run_id", how="anti")
        return others.with_columns(
            step_basis=pl.lit("traces"), ranks=pl.lit(None, pl.Int64)
        )


def mark_log(portion: pl.LazyFrame) -> pl.LazyFrame:
    """Return where a portion of the log saw each step, as Marks do; slips do not."""
    known = portion.filter(pl.col("ranks").fill_null(1) > 0)
    return known.select(
        *["run_id", "attempt"],
        pl.col("rank").cast(pl.Int64).alias("seat"),
        *["step", "start_ns", "end_ns", "ranks"],
        step_basis=pl.lit("steps"),
    )


def place_known(
    rows: pl.LazyFrame, attempts: pl.LazyFrame, time: str = "start_ns"
) -> pl.LazyFrame:
    """Give rows their attempt, by time also where they name one that is not known."""
    known = attempts.select("run_id", "attempt", is_known=pl.lit(value=True))
    checked = rows.join(known, on=["run_id", "attempt"], how="left").with_columns(
        attempt=pl.when("is_known").then("attempt")
    )
    return place(checked.drop("is_known"), attempts, time)


def seats_seen(
    log: StepLog,
    traced: pl.LazyFrame,
    attempts: pl.LazyFrame,
    hours: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """Return the GPUs seen at work in each attempt.

    A GPU is known by its rank; where no rank at all is told of an attempt, by its
    place in a trace.

    Args:
        log: The step logs.
        traced: What `traced_work` returns.
        attempts: Windows of attempts.
        hours: Rows of RankHours, of runs whose log does not tell of ranks.

    Returns:
        Columns run_id, attempt, rank, trace_id, device, start_ns and end_ns: trace_id
        and device are null where a rank is known. [ns]
    """
    by_rank = ["run_id", "attempt", "rank"]
    columns = [*by_rank, "start_ns", "end_ns"]
    logged = [
        place_known(portion.select(columns), attempts)
        .group_by(by_rank)
        .agg(_BOUNDS)
        .collect()
        .lazy()
        for portion in log
    ]
    first = pl.col("start_ns").min().over("run_id", "attempt", "trace_id")
    works = traced.group_by(*by_rank, "trace_id", "device").agg(_BOUNDS)
    dated = works.with_columns(trace_start_ns=first)
    placed = place_known(dated, attempts, "trace_start_ns").drop("trace_start_ns")
    if hours is not None:
        logged.append(seats_of_hours(hours, attempts))
    rows = pl.concat([*logged, placed.select(columns)])
    ranks = rows.filter(pl.col("rank").is_not_null()).group_by(by_rank).agg(_BOUNDS)
    nameless = placed.filter(pl.col("rank").is_null(), pl.col("device").is_not_null())
    others = nameless.join(ranks, on=["run_id", "attempt"], how="anti")
    return pl.concat([ranks, others], how="diagonal").collect().lazy()
