"""The best evidence of each step: what it says, and its basis."""

from typing import Final

import polars as pl

from analysis._ledger_log import PARTS
from ingest.tables import StepTimings

#: Kinds of evidence, the best first. A step is split by the best that its rank has.
#: With a whole bubble, no replay tells what of it the schedule explains: collectives of
#: runs without operations, operations whose replay is far from what was measured.
LADDER: Final = (
    "collectives",
    "collectives_whole_bubble",
    "operations",
    "operations_whole_bubble",
    "kernels_include_wait",
    "operations_include_wait",
    "step_parts",
    "step_duration_upper_bound",
    "jobs",
    "none",
)


def weigh(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Take what the best evidence of each step says.

    Args:
        rows: What `attach_traces` returns: parts of the step log, and straggler_wait,
            pipeline_bubble, exposed_communication, productive and basis of a trace.

    Returns:
        The rows with basis and is_traced, and a column for each account that evidence
        fills, null where it is silent. [ns]
    """
    is_traced = pl.col("basis").is_not_null()
    has_parts = pl.any_horizontal(pl.col(PARTS).is_not_null())
    logged = (
        pl.when(has_parts)
        .then(pl.lit("step_parts"))
        .otherwise(pl.lit("step_duration_upper_bound"))
    )
    best = {
        "straggler_wait": StepTimings.wait_ns.name,
        "exposed_communication": StepTimings.communication_ns.name,
        "productive": StepTimings.compute_ns.name,
    }
    return rows.with_columns(
        *[
            pl.when(is_traced).then(account).otherwise(part).alias(account)
            for account, part in best.items()
        ],
        is_traced=is_traced,
        basis=pl.coalesce("basis", logged),
        checkpoint_stall=StepTimings.checkpoint_ns.col,
        data_stall=StepTimings.data_ns.col,
    ).drop(PARTS)
