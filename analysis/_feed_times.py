"""What steps took and how long they were blocked on their input, from step logs."""

import polars as pl

from analysis._feed_rows import STEP
from analysis._ledger_log import TRACE_ID_CHARACTERS
from analysis._step_rollup_columns import STALL_RATIO
from analysis._step_rollup_means import whole_steps
from analysis.placing import place
from ingest.tables import StepTimings


def rank_log(
    timings: pl.LazyFrame, attempts: pl.LazyFrame, traces: pl.LazyFrame
) -> pl.LazyFrame:
    """Return the rows of step logs that are of a rank, each with its attempt.

    Args:
        timings: Rows of StepTimings; averages over a run tell of no rank.
        attempts: Rows of Attempts.
        traces: Files whose steps are samples beside a log: trace_id.
    """
    is_rank = (StepTimings.scope.col == "rank") & StepTimings.rank.col.is_not_null()
    trace = StepTimings.file_id.col.str.head(TRACE_ID_CHARACTERS)
    logs = timings.filter(is_rank).join(
        traces.unique(), left_on=trace, right_on="trace_id", how="anti"
    )
    told = logs.select(
        *[*STEP, "rank", "start_ns", "duration_ns", "wait_ns", "data_ns"]
    )
    dated = place(told.filter(pl.col("attempt").is_null()), attempts, "start_ns")
    return pl.concat([told.filter(pl.col("attempt").is_not_null()), dated])


def rolled_times(rollups: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.DataFrame:
    """Return what each step took of its ranks, of runs that are condensed by day.

    Args:
        rollups: Rows of StepRollups.
        attempts: Rows of Attempts.

    Returns:
        The columns of `step_times`.
    """
    steps = whole_steps(rollups).filter(pl.col("scope") == "rank").lazy()
    told = steps.select(
        *STEP,
        "start_ns",
        step_gpu_ns="duration_ns_total",
        data_gpu_ns="data_ns_total",
        data_ns_max="data_ns_max",
        stalled_ranks="stalled_ranks",
    )
    dated = place(told.filter(pl.col("attempt").is_null()), attempts, "start_ns")
    both = pl.concat([told.filter(pl.col("attempt").is_not_null()), dated])
    sums = ("step_gpu_ns", "data_gpu_ns", "stalled_ranks")
    return (
        both.group_by(STEP)
        .agg(
            *[pl.when(pl.col(one).count() > 0).then(pl.col(one).sum()) for one in sums],
            pl.col("data_ns_max").max(),
        )
        .select(*STEP, *sums[:2], "data_ns_max", sums[2])
        .sort(STEP)
        .collect()
    )


def step_times(log: pl.LazyFrame, stall_ratio: float = STALL_RATIO) -> pl.DataFrame:
    """Return what each step took of its ranks.

    Args:
        log: What `rank_log` returns.
        stall_ratio: Share of its step from which a rank is stalled. [1]

    Returns:
        Columns of STEP; step_gpu_ns, data_gpu_ns (null where none is told),
        data_ns_max and stalled_ranks. [ns]
    """
    data = pl.col("data_ns")
    stalled = data > pl.col("duration_ns") * stall_ratio
    return (
        log.group_by(STEP)
        .agg(
            step_gpu_ns=pl.col("duration_ns").sum(),
            data_gpu_ns=pl.when(data.count() > 0).then(data.sum()),
            data_ns_max=data.max(),
            stalled_ranks=pl.when(data.count() > 0).then(stalled.sum().cast(pl.Int64)),
        )
        .sort(STEP)
        .collect(engine="streaming")
    )
