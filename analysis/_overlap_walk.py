"""A walk over the work of devices in order of time, a chunk at a time."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import polars as pl

from analysis._overlap_chunks import plan_chunks, rows_in
from analysis._windows import split_by_windows
from analysis.intervals import END, START

#: Turns the rows of a chunk into rows of work: `number`, `start_ns`, `end_ns`, and what
#: tells kinds of work apart.
Telling = Callable[[pl.DataFrame], pl.DataFrame]


class Extent(NamedTuple):
    """What a walk goes over.

    Attributes:
        devices: Bounds, rows and number of each device.
        windows: Windows that tile the time of each device.
        chunk_rows: Rows to hold at once. [1]
    """

    devices: pl.DataFrame
    windows: pl.DataFrame
    chunk_rows: int


class Chunk(NamedTuple):
    """Work that is small enough to sort.

    Attributes:
        found: Rows that start in it.
        work: What they are, and what earlier chunks left to it.
        ranges: The time of each device that it is of: `from_ns` to `to_ns`.
        pieces: The windows that it measures, cut at its bounds.
        opened: The windows of its devices, to count rows in that start in them.
    """

    found: pl.DataFrame
    work: pl.DataFrame
    ranges: pl.DataFrame
    pieces: pl.DataFrame
    opened: pl.DataFrame


def walk(
    intervals: pl.LazyFrame,
    extent: Extent,
    alike: Sequence[str],
    telling: Telling = lambda rows: rows,
) -> Iterator[Chunk]:
    """Yield the work of devices in order of time.

    All that a chunk leaves to the next is the furthest end of each kind of work, so
    that the memory it takes does not grow with the trace.

    Args:
        intervals: Columns of DEVICE, `start_ns`, `end_ns` and others.
        extent: Devices, their windows, and how much to hold at once.
        alike: Columns that tell kinds of work apart.
        telling: What fills them.
    """
    columns = ["number", START, END, *alike]
    plan = plan_chunks(intervals, extent.devices, extent.chunk_rows)
    pieces = _pieces(extent.windows, plan)
    of_chunk = pieces.partition_by("chunk", as_dict=True)
    carried: list[pl.DataFrame] = []
    for chunk, ranges in plan.partition_by("chunk", as_dict=True).items():
        rows = rows_in(intervals, ranges).drop("chunk", "from_ns", "to_ns", "until_ns")
        found = telling(rows.collect(engine="streaming"))
        work = pl.concat([*carried, found.select(columns)])
        opened = extent.windows.join(ranges, on="number", how="semi")
        yield Chunk(found, work, ranges, of_chunk.get(chunk, pieces.clear()), opened)
        carried = [_left_over(work, ranges, alike)]


def counting_windows(chunk: Chunk) -> pl.LazyFrame:
    """Return the windows of a chunk's devices, to count in which of them rows start.

    Work without length may start at the very end: the last window takes that in.
    """
    is_last = pl.col(END) == pl.col(END).max().over("number")
    until = (pl.col(END) + is_last.cast(pl.Int64)).alias(END)
    return chunk.opened.lazy().select("number", "window", START, until)


def _pieces(windows: pl.DataFrame, plan: pl.DataFrame) -> pl.DataFrame:
    """Cut windows where chunks meet."""
    ranges = plan.lazy().select(
        "number", "chunk", pl.col("from_ns").alias(START), pl.col("until_ns").alias(END)
    )
    cut = split_by_windows(windows.lazy(), ranges, ["number"]).sort("window")
    return cut.select("chunk", "number", "window", START, END).collect()


def _left_over(
    work: pl.DataFrame, ranges: pl.DataFrame, alike: Sequence[str]
) -> pl.DataFrame:
    """Return, for each kind, what of the work reaches beyond its range."""
    beyond = work.join(ranges.select("number", "to_ns"), on="number")
    furthest = (
        beyond.filter(pl.col(END) > pl.col("to_ns"))
        .group_by("number", *alike, "to_ns")
        .agg(pl.col(END).max())
    )
    return furthest.rename({"to_ns": START}).select(work.columns)
