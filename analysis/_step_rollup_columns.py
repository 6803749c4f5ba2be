"""What rollups of steps read, and what they have in common."""

from typing import Final

import polars as pl

#: Parts of a step's duration, as step logs name them. [ns]
PARTS: Final = (
    *("compute_ns", "communication_ns", "wait_ns"),
    *("data_ns", "checkpoint_ns"),
)

#: Parts of which the greatest is kept, too. [ns]
GREATEST: Final = ("wait_ns", "data_ns", "checkpoint_ns")

#: Columns of raw rows that are read.
COLUMNS: Final = (
    *("attempt", "step", "rank", "start_ns", "duration_ns", *PARTS),
    *("wait_scope", "clock", "scope", "step_count", "tokens"),
)

#: Share of its step that a rank must be blocked on its input to be stalled. Batches
#: are copied to the GPU whatever the loader does, which takes some ms of a step. [1]
STALL_RATIO: Final = 0.05

#: Time in own work, where the wait is told. [ns]
WORK: Final = "work_ns"


def with_ends(rows: pl.DataFrame) -> pl.DataFrame:
    """Add end_ns, over all steps that a row averages over, and work_ns."""
    count = pl.col("step_count").fill_null(1)
    work = (pl.col("duration_ns") - pl.col("wait_ns")).clip(0)
    return rows.with_columns(
        end_ns=pl.col("start_ns") + pl.col("duration_ns") * count, work_ns=work
    )


def median_ns(column: str) -> pl.Expr:
    """Return the median of a column in whole nanoseconds."""
    return pl.col(column).median().floor().cast(pl.Int64)
