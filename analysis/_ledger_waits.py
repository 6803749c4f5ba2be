"""Waits inside collectives that no compute hides, for each window of a device."""

from typing import Final

import polars as pl

from analysis._collective_matching import PAIR
from analysis._sweep import time_by_state
from analysis._windows import place_in_windows
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
    a send is the pipeline's, any other wait is for a late rank; where both are on at
    once, it is for the late rank.

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
    matched = waits.filter(pl.col("is_complete"), pl.col("time_basis") == "gpu")
    rows = matched.select(
        *[*DEVICE, "start_ns"],
        pl.min_horizontal(pl.col(START) + pl.col("wait_ns"), END).alias(END),
        is_long=pl.col("wait_ns") >= pl.col("residual_ns").fill_null(0),
        kind=pl.when(pl.col("kind") == PAIR)
        .then(pl.lit("pair"))
        .otherwise(pl.lit("joint")),
    ).collect()
    counted = _count(rows.lazy(), windows)
    long = rows.filter("is_long").drop("is_long")
    parts = [
        _sweep(kernels, long, windows.filter(pl.col("trace_id").is_in(traces)))
        for traces in _batches(long, windows, batch_rows)
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
        *DEVICE,
        START,
        (pl.col(START) + Kernels.duration_ns.col).alias(END),
        kind=pl.lit("compute"),
    )
    here = work.join(windows.select("trace_id").unique(), on="trace_id", how="semi")
    intervals = pl.concat([here, rows.lazy().select(*DEVICE, START, END, "kind")])
    numbered = windows.select(*DEVICE, "window", START, END)
    states = time_by_state(intervals, numbered, DEVICE, ("compute", "joint", "pair"))
    length = pl.col("length_ns")
    return (
        states.filter(~pl.col("compute"))
        .group_by("window")
        .agg(
            straggler_wait=length.filter(pl.col("joint")).sum(),
            pipeline_bubble=length.filter(pl.col("pair") & ~pl.col("joint")).sum(),
        )
        .collect()
    )
