"""What steps took and how long they were blocked on their input, from step logs."""

from typing import Final

import polars as pl

from analysis._feed_rows import STEP
from analysis._ledger_log import TRACE_ID_CHARACTERS
from analysis.placing import place
from ingest.tables import StepTimings

#: Share of its step that a rank must be blocked on its input to be stalled. Batches
#: are copied to the GPU whatever the loader does, which takes some ms of a step.
STALL_RATIO: Final = 0.05


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
