"""Steps of ranks of which only operations were traced: their own passes."""

from typing import Final

import polars as pl

from analysis._replay_kinds import BACKWARD, FORWARD, OPTIMIZER, known_kind
from analysis._step_times import mark_copies
from analysis.placing import place
from ingest.tables import Operations

#: Operations that are a rank's own work. Collections of garbage fall into passes.
_OWN: Final = (FORWARD, BACKWARD, OPTIMIZER)

_STEP: Final = ("run_id", "attempt", "step", "rank")


def operated_steps(operations: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.DataFrame:
    """Return the steps of ranks whose operations were traced.

    Own work is what its passes and its optimizer took: no transfer, and no wait. The
    rest of the step is waiting, or nothing that was traced. A step that two traces tell
    is counted once.

    Args:
        operations: Rows of Operations.
        attempts: Rows of Attempts, for operations that do not tell theirs.

    Returns:
        Columns of a step of a rank, as `rank_steps` takes them.
    """
    kind = known_kind(Operations.kind.col).cast(pl.String)
    rows = operations.select(*_STEP, "trace_id", "start_ns", "duration_ns", kind=kind)
    placed = place(rows, attempts, "start_ns")
    end = pl.col("start_ns") + pl.col("duration_ns")
    work = pl.col("duration_ns").filter(pl.col("kind").is_in(_OWN)).sum()
    pieces = placed.group_by(*_STEP, "trace_id").agg(
        pl.col("start_ns").min(), end_ns=end.max(), work=work
    )
    kept = mark_copies(pieces, _STEP).filter(~pl.col("is_copy"))
    span = (pl.col("end_ns").max() - pl.col("start_ns").min()).fill_null(0)
    steps = kept.group_by(_STEP).agg(
        pl.col("start_ns").min(), pl.col("work").sum(), span=span
    )
    return (
        steps.with_columns(span=pl.max_horizontal("span", "work"))
        .filter(pl.col("work") > 0)
        .select(
            *_STEP,
            "start_ns",
            duration_ns="span",
            wait_ns=pl.col("span") - pl.col("work"),
        )
        .collect(engine="streaming")
    )


def operated_seats(operations: pl.LazyFrame) -> pl.DataFrame:
    """Return the stage and replica that operations tell of each run and rank."""
    told = operations.filter(
        Operations.pp_rank.col.is_not_null() | Operations.dp_rank.col.is_not_null()
    )
    return (
        told.group_by("run_id", "rank")
        .agg(pl.col("pp_rank").max(), pl.col("dp_rank").max())
        .collect(engine="streaming")
    )
