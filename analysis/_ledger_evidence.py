"""What was seen of each run: steps that it timed, and work in its traces."""

from typing import Final

import polars as pl

from analysis._overlap_windows import bounds_of_steps
from analysis.placing import place
from ingest.tables import Collectives, Kernels, Operations, StepTimings

#: Parts of a step's duration, as step logs name them. [ns]
PARTS: Final = (
    StepTimings.checkpoint_ns.name,
    StepTimings.data_ns.name,
    StepTimings.wait_ns.name,
    StepTimings.communication_ns.name,
    StepTimings.compute_ns.name,
)

#: Characters that a trace's identity has of its file's.
TRACE_ID_CHARACTERS: Final = 16


def timed_steps(steps: pl.LazyFrame, traced: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows of step logs as intervals that cover every step they speak of.

    Traces time steps, too, but they are samples: their rows are left out, because the
    device tells more of the same steps. A row that averages over n steps covers n of
    them, parts included.

    Args:
        steps: Rows of StepTimings.
        traced: Work in traces: trace_id.

    Returns:
        Columns run_id, attempt, rank (null: the mean over the run), step, start_ns,
        end_ns and PARTS. [ns]
    """
    is_mean = StepTimings.scope.col == "run_mean"
    count = StepTimings.step_count.col.fill_null(1)
    known = steps.filter(is_mean | StepTimings.rank.col.is_not_null())
    trace = StepTimings.file_id.col.str.head(TRACE_ID_CHARACTERS)
    logs = known.join(
        traced.select("trace_id").unique(),
        left_on=trace,
        right_on="trace_id",
        how="anti",
    )
    return logs.select(
        StepTimings.run_id.col,
        StepTimings.attempt.col,
        pl.when(~is_mean).then(StepTimings.rank.col).alias("rank"),
        StepTimings.step.col,
        StepTimings.start_ns.col,
        (StepTimings.start_ns.col + StepTimings.duration_ns.col * count).alias(
            "end_ns"
        ),
        *[pl.col(part) * count for part in PARTS],
    )


def traced_work(
    kernels: pl.LazyFrame, operations: pl.LazyFrame, collectives: pl.LazyFrame
) -> pl.LazyFrame:
    """Return the bounds of the work of each trace, device and step.

    Returns:
        Columns run_id, attempt, trace_id, device, rank, step (null: in no step),
        start_ns and end_ns. [ns]
    """
    on_gpu = bounds_of_steps(kernels).lazy().rename({"first_ns": "start_ns"})
    finish = Operations.start_ns.col + Operations.duration_ns.col
    done = operations.with_columns(end_ns=finish, device=pl.lit(None, pl.Int32))
    end = pl.coalesce(Collectives.end_ns.col, Collectives.start_ns.col)
    joined = collectives.with_columns(end_ns=end)
    columns = [*_TRACED, "start_ns", pl.col("last_ns").alias("end_ns")]
    return pl.concat([on_gpu.select(columns), _bounds(done), _bounds(joined)])


_TRACED: Final = (
    Kernels.run_id.name,
    Kernels.attempt.name,
    Kernels.trace_id.name,
    Kernels.device.name,
    Kernels.rank.name,
    Kernels.step.name,
)


def _bounds(rows: pl.LazyFrame) -> pl.LazyFrame:
    return rows.group_by(_TRACED).agg(pl.col("start_ns").min(), pl.col("end_ns").max())


def marks(timed: pl.LazyFrame, traced: pl.LazyFrame) -> pl.LazyFrame:
    """Return where each step was seen: in the step log, in traces where there is none.

    A trace that does not tell its rank is a sequence of its own.

    Returns:
        Columns run_id, attempt, seat (a rank, negative for such a trace, null for the
        mean over the run), step, start_ns, end_ns and step_basis.
    """
    logged = timed.select(
        "run_id",
        "attempt",
        pl.col("rank").cast(pl.Int64).alias("seat"),
        *["step", "start_ns", "end_ns"],
        step_basis=pl.lit("steps"),
    )
    trace = -pl.col("trace_id").rank("dense").cast(pl.Int64)
    steps = traced.filter(pl.col("step").is_not_null())
    sampled = (
        steps.with_columns(seat=pl.coalesce("rank", trace))
        .group_by("run_id", "attempt", "trace_id", "seat", "step")
        .agg(pl.col("start_ns").min(), pl.col("end_ns").max())
        .drop("trace_id")
        .join(timed.select("run_id").unique(), on="run_id", how="anti")
    )
    return pl.concat([logged, sampled.with_columns(step_basis=pl.lit("traces"))])


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
    timed: pl.LazyFrame, traced: pl.LazyFrame, attempts: pl.LazyFrame
) -> pl.LazyFrame:
    """Return the GPUs seen at work in each attempt.

    A GPU is known by its rank; where no rank at all is told of an attempt, by its
    place in a trace.

    Returns:
        Columns run_id, attempt, rank, trace_id, device, start_ns and end_ns: trace_id
        and device are null where a rank is known. [ns]
    """
    bounds = (pl.col("start_ns").min(), pl.col("end_ns").max())
    by_rank = ["run_id", "attempt", "rank"]
    first = pl.col("start_ns").min().over("run_id", "attempt", "trace_id")
    works = (
        traced.group_by(*by_rank, "trace_id", "device")
        .agg(bounds)
        .with_columns(trace_start_ns=first)
    )
    placed = place_known(works, attempts, "trace_start_ns")
    logged = place_known(timed.select(*by_rank, "start_ns", "end_ns"), attempts)
    rows = pl.concat([logged, placed.select(*by_rank, "start_ns", "end_ns")])
    ranks = rows.filter(pl.col("rank").is_not_null()).group_by(by_rank).agg(bounds)
    nameless = placed.filter(pl.col("rank").is_null(), pl.col("device").is_not_null())
    others = nameless.join(ranks, on=["run_id", "attempt"], how="anti")
    return pl.concat([ranks, others.drop("trace_start_ns")], how="diagonal")
