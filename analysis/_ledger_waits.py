"""Waits inside collectives that no compute hides, for each window of a device."""

from typing import Final

import polars as pl

from analysis._collective_matching import PAIR
from analysis._ledger_gaps import blocked_by, gaps_of
from analysis._windows import place_in_windows, split_by_windows
from analysis.intervals import END, START
from ingest.tables import Kernels

#: Columns that tell one device of one trace from another; a trace is of one attempt.
DEVICE: Final = ("run_id", "trace_id", "device")

#: Rows of kernels that are swept at once, whole traces at a time. Their bounds take
#: some 100 bytes each.
BATCH_ROWS: Final = 2_000_000


def exposed_waits(
    kernels: pl.LazyFrame,
    waits: pl.LazyFrame,
    windows: pl.LazyFrame,
    batch_rows: int = BATCH_ROWS,
) -> pl.DataFrame:
    """Measure the waits in each window that no compute of the device hides.

    A wait that is shorter than the residual of the clocks is not evidence. Waiting for
    a send is the pipeline's, any other wait is for a late rank. Where several are on at
    once, the one counts that ends last before compute goes on: see `blocked_by`.

    Args:
        kernels: Rows of Kernels.
        waits: What `rank_waits` returns.
        windows: Columns of DEVICE, `window`, `start_ns`, `end_ns` and `rows`; those of
            a device share no time.
        batch_rows: Rows of kernels to sweep at once. [1]

    Returns:
        Columns window, straggler_wait and pipeline_bubble [ns], and matched, how many
        complete collectives the device took part in. Windows without any are left out.
    """
    seen = waits.filter(pl.col("time_basis") == "gpu", pl.col(START) < pl.col(END))
    is_long = pl.col("wait_ns") >= pl.col("residual_ns").fill_null(0)
    waited = pl.when("is_complete", is_long).then("wait_ns").fill_null(0)
    rows = seen.select(
        *[*DEVICE, START, END, "is_complete"],
        until_ns=pl.min_horizontal(pl.col(START) + waited, END),
        kind=pl.when(pl.col("kind") == PAIR)
        .then(pl.lit("pair"))
        .otherwise(pl.lit("joint")),
    ).collect()
    counted = _count(rows.lazy().filter("is_complete"), windows)
    waiting = rows.filter(pl.col(START) < pl.col("until_ns"))
    parts = [
        _sweep(kernels, rows, windows.filter(pl.col("trace_id").is_in(traces)))
        for traces in _batches(waiting, windows, batch_rows)
    ]
    measured = pl.concat([_NOTHING, *parts]).lazy()
    return counted.join(measured, on="window", how="left").fill_null(0).collect()


_NOTHING: Final = pl.DataFrame(
    schema={
        "window": pl.UInt32,
        "straggler_wait": pl.Int64,
        "pipeline_bubble": pl.Int64,
    }
)


def _count(rows: pl.LazyFrame, windows: pl.LazyFrame) -> pl.LazyFrame:
    numbered = windows.select(*DEVICE, "window", START, END)
    placed = place_in_windows(rows, numbered, DEVICE)
    inside = placed.filter(pl.col("window").is_not_null())
    return inside.group_by("window").agg(matched=pl.len().cast(pl.Int64))


def _batches(
    rows: pl.DataFrame, windows: pl.LazyFrame, batch_rows: int
) -> list[list[str]]:
    """Return the traces that have waits, as many at once as hold `batch_rows`."""
    sizes = windows.group_by("trace_id").agg(pl.col("rows").sum()).sort("trace_id")
    waiting = sizes.join(rows.lazy().select("trace_id").unique(), on="trace_id")
    numbered = waiting.sort("trace_id").with_columns(
        batch=(pl.col("rows").cum_sum() - pl.col("rows")) // batch_rows
    )
    batches = numbered.group_by("batch", maintain_order=True).agg("trace_id")
    return [list(traces) for traces in batches.collect()["trace_id"]]


def _sweep(
    kernels: pl.LazyFrame, rows: pl.DataFrame, windows: pl.LazyFrame
) -> pl.DataFrame:
    work = kernels.filter(Kernels.category.col == "compute").select(
        *DEVICE, START, (pl.col(START) + Kernels.duration_ns.col).alias(END)
    )
    numbered = windows.select(*DEVICE, "window", START, END).collect().lazy()
    held = blocked_by(rows.lazy(), gaps_of(work, numbered, DEVICE), DEVICE)
    length = pl.col(END) - pl.col(START)
    of_kind = {
        name: length.filter(pl.col("kind") == kind).sum()
        for name, kind in (("straggler_wait", "joint"), ("pipeline_bubble", "pair"))
    }
    parted = split_by_windows(held, numbered, DEVICE)
    return parted.group_by("window").agg(**of_kind).collect()
