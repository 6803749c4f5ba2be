"""One row per trace, device and step; where step is null, the whole trace."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._overlap_chunks import CHUNK_ROWS
from analysis._overlap_measures import kernel_intervals, measure_windows
from analysis._overlap_windows import DEVICE, bounds_of_steps, devices_of, windows_of
from analysis._trace_attempts import place_traces
from analysis.attempts import Attempts
from analysis.intervals import END, START
from analysis.placing import place
from ingest.tables import Kernels, Table
from ingest.tables import _columns as c


class Overlap(Table):
    """One row per trace, device and step; where step is null, the whole trace."""

    key: ClassVar = ("run_id", "attempt", "trace_id", "device", "step")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    trace_id = c.identifier("Trace that was measured.")
    rank = c.index("Global rank; null where the trace does not tell.", nullable=True)
    device = c.index("Device inside the trace.")
    step = c.number("Step; null for the whole trace.", nullable=True)
    start_ns = c.time_ns("Start of the window on the device.")
    span_ns = c.duration_ns("Length of the window.")
    busy_ns = c.duration_ns("Time with any work.")
    compute_ns = c.duration_ns("Time with compute.")
    communication_ns = c.duration_ns("Time with communication.")
    memory_ns = c.duration_ns("Time with copies.")
    overlapped_ns = c.duration_ns("Time with compute and communication at once.")
    exposed_communication_ns = c.duration_ns("Time with communication and no compute.")
    exposed_memory_ns = c.duration_ns("Time with copies and nothing else.")
    idle_ns = c.duration_ns("Time with no work.")
    overlap_ratio = c.ratio(
        "Share of communication that compute hides; null without communication.",
        nullable=True,
    )
    linked_ratio = c.ratio(
        "Share of the work whose launch is in the trace.", nullable=True
    )
    compute_count = c.count("Compute kernels.")
    communication_count = c.count("Communication kernels.")
    memory_count = c.count("Copies.")


def measure_overlap(
    kernels: dy.LazyFrame[Kernels],
    attempts: dy.LazyFrame[Attempts],
    chunk_rows: int = CHUNK_ROWS,
) -> dy.DataFrame[Overlap]:
    """Measure how each device spent its time, over its trace and in each step.

    Intervals are cut at the bounds of the windows, whatever step launched them, so that
    the windows of a device never count the same time twice. Work before the first step
    belongs to the whole trace alone.

    Args:
        kernels: Work on GPU streams, of any number of traces.
        attempts: Attempts, for traces that do not tell theirs.
        chunk_rows: Rows to hold at once. [1]

    Returns:
        One row for the whole of each device's trace and one for each of its steps, in
        the order of the key. [ns]
    """
    steps = bounds_of_steps(kernels)
    if _some_told(steps):
        return measure_overlap(
            Kernels.cast(place_traces(kernels, attempts, START)), attempts, chunk_rows
        )
    devices = devices_of(steps)
    windows = windows_of(steps, devices)
    if windows.is_empty():
        return Overlap.create_empty()
    intervals = kernel_intervals(kernels)
    measured = measure_windows(intervals, devices, windows, chunk_rows)
    told = windows.join(measured, on="window", how="left").with_columns(
        pl.col(*[name for name in measured.columns if name != "window"]).fill_null(0)
    )
    told = told.drop("window")
    whole = told.group_by("number").agg(
        pl.col(START).min(), pl.col(END).max(), pl.exclude("step", START, END).sum()
    )
    rows = pl.concat([whole, told.filter(pl.col("step").is_not_null())], how="diagonal")
    placed = _placed(devices, attempts).join(rows, on="number")
    return Overlap.validate(_with_ratios(placed).sort(Overlap.key), cast=True)


def _some_told(steps: pl.DataFrame) -> bool:
    """Return whether only part of a trace's rows tell their attempt."""
    is_told = pl.col("attempt").is_not_null()
    traces = steps.group_by("run_id", "trace_id").agg(is_told.any() & ~is_told.all())
    return bool(traces["attempt"].any())


def _placed(devices: pl.DataFrame, attempts: pl.LazyFrame) -> pl.DataFrame:
    """Give each device its attempt: that of the first work of its trace."""
    first = pl.col("first_ns").min().over("run_id", "attempt", "trace_id")
    named = devices.select(*DEVICE, "number", "rank", first_ns=first)
    return place(named.lazy(), attempts, "first_ns").drop("first_ns").collect()


def _with_ratios(rows: pl.DataFrame) -> pl.DataFrame:
    communication = Overlap.communication_ns.col
    counts = pl.sum_horizontal(
        Overlap.compute_count.col,
        Overlap.communication_count.col,
        Overlap.memory_count.col,
    )
    return rows.with_columns(
        span_ns=pl.col(END) - pl.col(START),
        overlap_ratio=pl.when(communication > 0).then(
            Overlap.overlapped_ns.col / communication
        ),
        linked_ratio=pl.when(counts > 0).then(pl.col("linked_count") / counts),
    ).select(Overlap.column_names())


def _compute(frames: Frames, _: Thresholds) -> Results:
    return {Overlap: measure_overlap(frames[Kernels], frames[Attempts])}


ANALYSIS: Final = Analysis(
    name="overlap",
    version=1,
    describes="How much communication compute hides, and what is exposed or idle",
    inputs=(Kernels, Attempts),
    needs=(Kernels,),
    outputs=(Overlap,),
    compute=_compute,
)
