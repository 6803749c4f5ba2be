"""The devices and windows that the overlap of traces was measured in."""

from typing import Final

import polars as pl

from analysis._overlap_windows import DEVICE
from analysis.intervals import END, START
from analysis.overlap import Overlap

_TRACE: Final = ("run_id", "trace_id", "device")


def traced_devices(overlap: pl.LazyFrame) -> pl.DataFrame:
    """Return the devices of traces that communicate, numbered in order.

    A trace is of one attempt: its rows are found by the trace, and the attempt in the
    columns of DEVICE is null.

    Args:
        overlap: Rows of Overlap.

    Returns:
        Columns of DEVICE, `number`, `placed` (the attempt), `rank`, the bounds of the
        device's time and how many kernels it ran.
    """
    talks = Overlap.communication_count.col > 0
    whole = overlap.filter(Overlap.step.col.is_null() & talks).sort(_TRACE)
    last = Overlap.start_ns.col + Overlap.span_ns.col
    numbered = whole.with_row_index("number").select(
        *[name for name in DEVICE if name != "attempt"],
        "number",
        "rank",
        attempt=pl.lit(None, pl.Int32),
        placed="attempt",
        first_ns=START,
        last_start_ns=last,
        last_ns=last,
        rows=Overlap.compute_count.col + Overlap.communication_count.col,
    )
    return numbered.collect()


def traced_windows(overlap: pl.LazyFrame, devices: pl.DataFrame) -> pl.DataFrame:
    """Return the windows that tile each device's time, as Overlap has them.

    Returns:
        The device's `number`, `step` (null before the first), `window` (its own
        number), `start_ns` and `end_ns`.
    """
    keys = [*_TRACE, "placed"]
    end = (Overlap.start_ns.col + Overlap.span_ns.col).alias(END)
    told = overlap.select(*_TRACE, "step", START, end, placed="attempt")
    rows = told.join(devices.lazy().select("number", *keys), on=keys)
    steps = rows.filter(pl.col("step").is_not_null())
    until = steps.group_by("number").agg(pl.col(START).min().alias("_until"))
    whole = rows.filter(pl.col("step").is_null()).join(until, on="number", how="left")
    before = whole.with_columns(pl.coalesce("_until", END).alias(END)).filter(
        pl.col("_until").is_null() | (pl.col(START) < pl.col(END))
    )
    columns = ["number", "step", START, END]
    tiled = pl.concat([before.select(columns), steps.select(columns)])
    ordered = tiled.sort("number", START, END, "step", nulls_last=False)
    return ordered.with_row_index("window").collect()
