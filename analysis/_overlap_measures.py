"""What is measured of each window, chunk by chunk."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import polars as pl

from analysis._overlap_walk import Chunk, Extent, counting_windows, walk
from analysis._overlap_windows import DEVICE
from analysis._sweep import time_by_state
from analysis._windows import place_in_windows
from analysis.intervals import END
from ingest.tables import Kernels

#: Categories of work on a GPU.
KINDS: Final = ("compute", "communication", "memory")

_COMPUTE, _COMMUNICATION, _MEMORY = (pl.col(kind) for kind in KINDS)

#: Times of a window, each a sum over the states that it is made of.
_STATES: Final = {
    "busy_ns": _COMPUTE | _COMMUNICATION | _MEMORY,
    "compute_ns": _COMPUTE,
    "communication_ns": _COMMUNICATION,
    "memory_ns": _MEMORY,
    "overlapped_ns": _COMPUTE & _COMMUNICATION,
    "exposed_communication_ns": _COMMUNICATION & ~_COMPUTE,
    "exposed_memory_ns": _MEMORY & ~_COMPUTE & ~_COMMUNICATION,
    "idle_ns": ~(_COMPUTE | _COMMUNICATION | _MEMORY),
}


class Measures(NamedTuple):
    """What to measure of a window: kinds of work, and times by which of them are on."""

    kinds: Sequence[str]
    states: Mapping[str, pl.Expr]


#: Measures of a window in which compute, communication and copies take turns.
OVERLAP: Final = Measures(KINDS, _STATES)


def kernel_intervals(kernels: pl.LazyFrame) -> pl.LazyFrame:
    """Return kernels as intervals that can be measured, with their category as kind."""
    start = Kernels.start_ns.col
    return kernels.select(
        *DEVICE,
        start,
        (start + Kernels.duration_ns.col).alias(END),
        Kernels.category.col.alias("kind"),
        Kernels.linked.col,
    )


def measure_windows(
    intervals: pl.LazyFrame,
    devices: pl.DataFrame,
    windows: pl.DataFrame,
    chunk_rows: int,
    measures: Measures = OVERLAP,
) -> pl.DataFrame:
    """Return times and counts of each window, by its number.

    Args:
        intervals: Columns of DEVICE, `start_ns`, `end_ns`, `kind` and `linked`.
        devices: Bounds, rows and number of each device.
        windows: Windows that tile the time of each device.
        chunk_rows: Rows to hold at once. [1]
        measures: What to measure of each.
    """
    measured = [pl.DataFrame(schema={"window": pl.UInt32})]
    extent = Extent(devices, windows, chunk_rows)
    for chunk in walk(intervals, extent, ["kind"]):
        if chunk.pieces.height:
            measured.append(_times(chunk, measures))
        measured.append(_counts(chunk, measures.kinds))
    sums = pl.exclude("window").sum()
    return pl.concat(measured, how="diagonal").group_by("window").agg(sums)


def _times(chunk: Chunk, measures: Measures) -> pl.DataFrame:
    windows = chunk.pieces.lazy().drop("chunk")
    table = time_by_state(chunk.work.lazy(), windows, ["number"], measures.kinds)
    length = pl.col("length_ns")
    return (
        table.group_by("window")
        .agg(
            length.filter(state).sum().alias(name)
            for name, state in measures.states.items()
        )
        .collect()
    )


def _counts(chunk: Chunk, kinds: Sequence[str]) -> pl.DataFrame:
    """Count whole rows in the window that each starts in."""
    opened = counting_windows(chunk)
    placed = place_in_windows(chunk.found.lazy(), opened, ["number"])
    return (
        placed.group_by("window")
        .agg(
            *[_count(pl.col("kind") == kind).alias(f"{kind}_count") for kind in kinds],
            linked_count=_count(Kernels.linked.col),
        )
        .collect()
    )


def _count(which: pl.Expr) -> pl.Expr:
    return which.cast(pl.Int64).sum()
