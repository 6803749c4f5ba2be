"""Steps of traced ranks: how long they took, and how much of it was waiting."""

from typing import Final

import polars as pl

from analysis._clock_shifts import Clocks
from analysis._collective_matching import PAIR
from analysis._collective_ranks import waits_in_batches
from analysis._overlap_chunks import CHUNK_ROWS
from analysis._overlap_measures import Measures, kernel_intervals, measure_windows
from analysis._overlap_windows import DEVICE
from analysis._windows import place_in_windows
from analysis.intervals import END, START
from analysis.overlap import Overlap

_TRACE: Final = ("run_id", "trace_id", "device")

#: Waiting that holds a step up: what compute hides costs nothing.
_EXPOSED: Final = Measures(
    kinds=("compute", "waiting"),
    states={"wait_ns": pl.col("waiting") & ~pl.col("compute")},
)


def traced_steps(
    kernels: pl.LazyFrame,
    overlap: pl.LazyFrame,
    collectives: pl.LazyFrame,
    attempts: pl.LazyFrame,
    clocks: Clocks | None = None,
) -> pl.DataFrame:
    """Return the steps of traced ranks, with their waits where these are known.

    A step is its window on the device. Its waits are those of the collectives in it,
    where no compute ran at the same time. They are known where every collective was
    seen by all its ranks.

    Args:
        kernels: Rows of Kernels.
        overlap: Rows of Overlap.
        collectives: Rows of Collectives.
        attempts: Rows of Attempts.
        clocks: What is known of clocks; None: all times are of one clock.

    Returns:
        Columns `run_id`, `attempt`, `step`, `rank`, `start_ns`, `duration_ns`,
        `wait_ns`, and `wait_scope`, `data_ns` and `transfer_ns`, which are null.
    """
    windows = _windows(overlap)
    waits = _waiting(collectives, attempts, clocks)
    known = _known(windows, waits)
    exposed = pl.DataFrame(schema={"window": pl.UInt32, "wait_ns": pl.Int64})
    if known.height:
        intervals = _intervals(kernels, waits)
        devices = _devices(overlap, known)
        numbered = known.join(devices.select("number", *_TRACE), on=list(_TRACE))
        measured = measure_windows(intervals, devices, numbered, CHUNK_ROWS, _EXPOSED)
        exposed = measured.select("window", "wait_ns")
    seen = known.select("window").join(exposed, on="window", how="left").fill_null(0)
    return windows.join(seen, on="window", how="left").select(
        *("run_id", "attempt", "step", "rank", START),
        pl.col(END).sub(pl.col(START)).alias("duration_ns"),
        "wait_ns",
        wait_scope=pl.lit(None, pl.String),
        data_ns=pl.lit(None, pl.Int64),
        transfer_ns=pl.lit(None, pl.Int64),
    )


def _windows(overlap: pl.LazyFrame) -> pl.DataFrame:
    of_steps = Overlap.step.col.is_not_null() & Overlap.rank.col.is_not_null()
    end = (Overlap.start_ns.col + Overlap.span_ns.col).alias(END)
    columns = [*_TRACE, "attempt", "step", "rank", START]
    steps = overlap.filter(of_steps).select(*columns, end).collect()
    return steps.sort(*_TRACE, START, END).with_row_index("window")


def _waiting(
    collectives: pl.LazyFrame, attempts: pl.LazyFrame, clocks: Clocks | None
) -> pl.DataFrame:
    """Return the rows of collectives that make ranks wait, each until it may go on."""
    makes_wait = pl.col("joint") | (pl.col("kind") == PAIR)
    on_gpu = (pl.col("time_basis") == "gpu") & pl.col("device").is_not_null()
    until = pl.col(START) + pl.col("wait_ns").fill_null(0)
    return pl.concat(
        [
            waits.filter(makes_wait & on_gpu)
            .select(*_TRACE, START, until.alias(END), "is_complete")
            .collect()
            for waits in waits_in_batches(collectives, attempts, clocks)
        ]
    )


def _known(windows: pl.DataFrame, waits: pl.DataFrame) -> pl.DataFrame:
    """Return the windows in which every collective was seen by all its ranks."""
    bounds = windows.lazy().select(*_TRACE, START, END, "window")
    placed = place_in_windows(waits.lazy(), bounds, _TRACE).collect()
    complete = placed.group_by("window").agg(pl.col("is_complete").all())
    return windows.join(complete.filter("is_complete"), on="window", how="semi")


def _intervals(kernels: pl.LazyFrame, waits: pl.DataFrame) -> pl.LazyFrame:
    """Return compute and waiting. The trace tells devices apart; attempts do not."""
    compute = kernel_intervals(kernels).filter(pl.col("kind") == "compute")
    no_attempt = pl.lit(None, pl.Int32).alias("attempt")
    waiting = waits.lazy().with_columns(
        no_attempt, kind=pl.lit("waiting"), linked=pl.lit(value=True)
    )
    columns = [*DEVICE, START, END, "kind", "linked"]
    return pl.concat(
        [compute.with_columns(no_attempt).select(columns), waiting.select(columns)]
    )


def _devices(overlap: pl.LazyFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Return the bounds and rows of the devices that have known windows."""
    whole = overlap.filter(Overlap.step.col.is_null()).collect()
    traced = whole.join(known, on=list(_TRACE), how="semi").sort(_TRACE)
    last = Overlap.start_ns.col + Overlap.span_ns.col
    return traced.with_row_index("number").select(
        "number",
        *_TRACE,
        attempt=pl.lit(None, pl.Int32),
        first_ns=START,
        last_start_ns=last,
        last_ns=last,
        rows=Overlap.compute_count.col + Overlap.communication_count.col,
    )
