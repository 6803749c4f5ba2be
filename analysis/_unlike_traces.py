"""Runs whose traces cannot be of one run: they place a rank differently."""

from typing import Final

import polars as pl

from analysis._step_times import clock_of
from ingest.tables import Operations

#: What is said of such a run.
UNLIKE_TRACES: Final = (
    "Several traces of unlike ranks are in one run: give each a folder with a run.toml."
)

_RANK: Final = ("run_id", "attempt", "rank")


def unlike_runs(operations: pl.LazyFrame) -> pl.DataFrame:
    """Return the runs with traces of several layouts.

    Traces whose times are of a clock of their own are parts of one run only by the
    folder that they were in. Where two of them give one rank of an attempt different
    stages or replicas, they are of different jobs.

    Args:
        operations: Rows of Operations.

    Returns:
        Column `run_id`.
    """
    is_placed = (
        Operations.pp_rank.col.is_not_null() | Operations.dp_rank.col.is_not_null()
    )
    undated = operations.filter(is_placed & clock_of().is_not_null())
    places = undated.select(*_RANK, "trace_id", "pp_rank", "dp_rank").unique()
    ranks = places.group_by(_RANK).agg(
        traces=pl.col("trace_id").n_unique(),
        places=pl.struct("pp_rank", "dp_rank").n_unique(),
    )
    unlike = ranks.filter((pl.col("traces") > 1) & (pl.col("places") > 1))
    runs = unlike.select("run_id").unique().collect(engine="streaming")
    return runs.sort("run_id")


def of_one_run(operations: pl.LazyFrame) -> pl.LazyFrame:
    """Leave out the operations of runs with traces of several layouts."""
    unlike = unlike_runs(operations)
    if unlike.is_empty():
        return operations
    return operations.join(unlike.lazy(), on="run_id", how="anti")
