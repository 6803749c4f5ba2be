"""What traces tell of steps: how a device spent the time of each."""

from typing import Final

import polars as pl

from analysis._ledger_waits import BATCH_ROWS, exposed_waits
from analysis.overlap import Overlap

_TRACE: Final = ("run_id", "attempt", "trace_id", "device")

#: What is measured of a window and adds up over the windows of a trace.
_MEASURES: Final = (
    Overlap.span_ns.name,
    Overlap.compute_ns.name,
    Overlap.exposed_communication_ns.name,
    Overlap.compute_count.name,
    Overlap.communication_count.name,
)


def traced_cells(
    overlap: pl.LazyFrame,
    kernels: pl.LazyFrame,
    waits: pl.LazyFrame,
    batch_rows: int = BATCH_ROWS,
) -> pl.LazyFrame:
    """Return how each traced device spent its windows: one for each step, one before.

    Where no communication kernel of a window is outside a complete collective, the
    basis is `collectives`; else what is exposed includes waits, and the basis says so.

    Args:
        overlap: Rows of Overlap.
        kernels: Rows of Kernels.
        waits: What `rank_waits` returns.
        batch_rows: Rows of kernels to sweep at once. [1]

    Returns:
        Columns run_id, attempt, trace_id, device, rank, step (null: before the first
        step of the trace, or the whole of one without steps), start_ns, end_ns,
        straggler_wait, pipeline_bubble, exposed_communication, productive and basis.
        [ns]
    """
    windows = _windows(_one_device(overlap)).collect()
    measured = exposed_waits(kernels, waits, windows.lazy(), batch_rows)
    known = windows.lazy().join(measured.lazy(), on="window", how="left")
    told = known.with_columns(
        pl.col("matched", "straggler_wait", "pipeline_bubble").fill_null(0)
    )
    seen = Overlap.communication_count.col
    is_matched = pl.col("matched") >= seen
    waiting = pl.col("straggler_wait") + pl.col("pipeline_bubble")
    exposed = Overlap.exposed_communication_ns.col
    return told.select(
        *[*_TRACE, "rank", "step", "start_ns", "end_ns"],
        *["straggler_wait", "pipeline_bubble"],
        exposed_communication=(exposed - waiting).clip(0),
        productive=Overlap.compute_ns.col,
        basis=pl.when(is_matched)
        .then(pl.lit("collectives"))
        .otherwise(pl.lit("kernels_include_wait")),
    )


def _one_device(overlap: pl.LazyFrame) -> pl.LazyFrame:
    """Keep one device for each rank of a trace: a rank has one GPU, the busiest."""
    whole = overlap.filter(Overlap.step.col.is_null())
    named = whole.filter(Overlap.rank.col.is_not_null())
    others = (
        named.sort(Overlap.busy_ns.name, "device", descending=[True, False])
        .with_columns(place=pl.int_range(pl.len()).over("run_id", "trace_id", "rank"))
        .filter(pl.col("place") > 0)
    )
    return overlap.join(others.select(_TRACE), on=list(_TRACE), how="anti")


def _windows(overlap: pl.LazyFrame) -> pl.LazyFrame:
    """Return the windows that tile each device's time, those before a step, too."""
    steps = overlap.filter(Overlap.step.col.is_not_null())
    whole = overlap.filter(Overlap.step.col.is_null())
    told = steps.group_by(_TRACE).agg(pl.col(_MEASURES).sum().name.prefix("told_"))
    left = [pl.col(n) - pl.col(f"told_{n}").fill_null(0) for n in _MEASURES]
    before = whole.join(told, on=list(_TRACE), how="left").with_columns(left)
    columns = [*_TRACE, "rank", "step", "start_ns", *_MEASURES]
    rows = pl.concat([before.select(columns), steps.select(columns)])
    lasting = rows.filter(pl.col("span_ns") > 0)
    return lasting.with_columns(
        end_ns=pl.col("start_ns") + pl.col("span_ns"),
        rows=pl.col("compute_count") + pl.col("communication_count"),
    ).with_row_index("window")
