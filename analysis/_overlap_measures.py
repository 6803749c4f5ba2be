"""What is measured of each window, chunk by chunk."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import polars as pl

from analysis._overlap_chunks import plan_chunks, rows_in
from analysis._overlap_windows import DEVICE
from analysis._sweep import time_by_state
from analysis._windows import place_in_windows, split_by_windows
from analysis.intervals import END, START
from ingest.tables import Kernels

#: Categories of work on a GPU.
KINDS: Final = ("compute", "communication", "memory")

_WORK: Final = {
    "number": pl.UInt32,
    START: pl.Int64,
    END: pl.Int64,
    "kind": pl.String,
}

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

    Rows are taken in chunks, in order of time. All that a chunk leaves to the next is
    the furthest end of each kind, so the memory it takes does not grow with the trace.

    Args:
        intervals: Columns of DEVICE, `start_ns`, `end_ns`, `kind` and `linked`.
        devices: Bounds, rows and number of each device.
        windows: Windows that tile the time of each device.
        chunk_rows: Rows to hold at once. [1]
        measures: What to measure of each.
    """
    plan = plan_chunks(intervals, devices, chunk_rows)
    pieces = _pieces(windows, plan).partition_by("chunk", as_dict=True)
    carried = pl.DataFrame(schema=_WORK)
    measured = [pl.DataFrame(schema={"window": pl.UInt32})]
    for chunk, ranges in plan.partition_by("chunk", as_dict=True).items():
        rows = rows_in(intervals, ranges).select([*_WORK, "linked"])
        found = rows.collect(engine="streaming")
        work = pl.concat([carried, found.select(list(_WORK))])
        if chunk in pieces:
            measured.append(_times(work, pieces[chunk], measures))
        opened = windows.join(ranges, on="number", how="semi")
        measured.append(_counts(found, opened, measures.kinds))
        carried = _left_over(work, ranges)
    sums = pl.exclude("window").sum()
    return pl.concat(measured, how="diagonal").group_by("window").agg(sums)


def _pieces(windows: pl.DataFrame, plan: pl.DataFrame) -> pl.DataFrame:
    """Cut windows where chunks meet."""
    ranges = plan.lazy().select(
        "number", "chunk", pl.col("from_ns").alias(START), pl.col("until_ns").alias(END)
    )
    return split_by_windows(windows.lazy(), ranges, ["number"]).sort("window").collect()


def _times(
    work: pl.DataFrame,
    pieces: pl.DataFrame,
    measures: Measures,
) -> pl.DataFrame:
    windows = pieces.lazy().select("number", "window", START, END)
    table = time_by_state(work.lazy(), windows, ["number"], measures.kinds)
    length = pl.col("length_ns")
    return (
        table.group_by("window")
        .agg(
            length.filter(state).sum().alias(name)
            for name, state in measures.states.items()
        )
        .collect()
    )


def _counts(
    found: pl.DataFrame, windows: pl.DataFrame, kinds: Sequence[str]
) -> pl.DataFrame:
    """Count whole rows in the window that each starts in.

    Work without length may start at the very end: the last window takes that in.
    """
    is_last = pl.col(END) == pl.col(END).max().over("number")
    until = (pl.col(END) + is_last.cast(pl.Int64)).alias(END)
    opened = windows.lazy().select("number", "window", START, until)
    placed = place_in_windows(found.lazy(), opened, ["number"])
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


def _left_over(work: pl.DataFrame, ranges: pl.DataFrame) -> pl.DataFrame:
    """Return, for each kind, what of the work reaches beyond its range."""
    beyond = work.join(ranges.select("number", "to_ns"), on="number")
    furthest = (
        beyond.filter(pl.col(END) > pl.col("to_ns"))
        .group_by("number", "kind", "to_ns")
        .agg(pl.col(END).max())
    )
    return furthest.rename({"to_ns": START}).select(list(_WORK))
