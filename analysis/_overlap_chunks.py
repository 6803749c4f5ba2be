"""Pieces of a trace that are small enough to sort, whatever the size of the trace."""

from typing import Final

import polars as pl

from analysis._overlap_windows import DEVICE
from ingest.tables import Kernels

#: Rows to hold at once, at most about twice as many: so few that the peak is that of
#: reading a trace, however long it is. Four times as many are 40 % faster.
CHUNK_ROWS: Final = 32_768

#: Parts, equal in time, that a range with too many rows is cut into.
PARTS: Final = 1_024


def plan_chunks(
    kernels: pl.LazyFrame, devices: pl.DataFrame, chunk_rows: int
) -> pl.DataFrame:
    """Cut the time of every device so that each chunk holds about `chunk_rows`.

    Small devices share a chunk; a device with more rows is cut where its rows are
    counted to be. The ranges of a device tile its time.

    Returns:
        Columns of DEVICE, `number`, `chunk`, `from_ns`, `to_ns` and `until_ns`, in
        order. `to_ns` ends the time of a range, `until_ns` the starts in it: in the
        last range work without length may start at the very end.
    """
    ranges = devices.select(
        *DEVICE,
        "number",
        "rows",
        from_ns="first_ns",
        until_ns=pl.col("last_start_ns") + 1,
    )
    length = pl.col("until_ns") - pl.col("from_ns")
    crowded = (pl.col("rows") > chunk_rows) & (length > 1)
    while (cut := ranges.filter(crowded)).height:
        ranges = pl.concat([ranges.filter(~crowded), _cut(kernels, cut)])
    before = pl.col("rows").cum_sum() - pl.col("rows")
    chunked = (
        ranges.sort("number", "from_ns")
        .with_columns(chunk=before // chunk_rows)
        .group_by(*DEVICE, "number", "chunk")
        .agg(pl.col("from_ns").min())
    )
    return _tile(chunked, devices)


def _cut(kernels: pl.LazyFrame, crowded: pl.DataFrame) -> pl.DataFrame:
    """Cut ranges into parts equal in time and count the rows of each that has any."""
    length = pl.col("until_ns") - pl.col("from_ns")
    ranges = crowded.drop("rows").with_columns(width=(length - 1) // PARTS + 1)
    part = (Kernels.start_ns.col - pl.col("from_ns")) // pl.col("width")
    counted = (
        rows_in(kernels, ranges)
        .group_by(*ranges.columns, part=part)
        .agg(rows=pl.len().cast(pl.Int64))
        .collect(engine="streaming")
    )
    start = pl.col("from_ns") + pl.col("part") * pl.col("width")
    end = pl.min_horizontal("until_ns", start + pl.col("width"))
    return counted.select(*DEVICE, "number", "rows", from_ns=start, until_ns=end)


def _tile(chunked: pl.DataFrame, devices: pl.DataFrame) -> pl.DataFrame:
    ends = devices.select("number", "last_ns")
    ordered = chunked.join(ends, on="number").sort("number", "from_ns")
    following = pl.col("from_ns").shift(-1).over("number")
    return ordered.select(
        *DEVICE,
        "number",
        "chunk",
        "from_ns",
        to_ns=following.fill_null(pl.col("last_ns")),
        until_ns=following.fill_null(pl.col("last_ns") + 1),
    )


def rows_in(kernels: pl.LazyFrame, ranges: pl.DataFrame) -> pl.LazyFrame:
    """Return the rows that start in a range of their device, with the range's columns.

    The plain bounds on trace and time let the reader of the files pass over what lies
    outside; the join then is exact.
    """
    traces, start = ranges["trace_id"], Kernels.start_ns.col
    trace = Kernels.trace_id.col.is_between(pl.lit(traces.min()), pl.lit(traces.max()))
    time = start.is_between(ranges["from_ns"].min(), ranges["until_ns"].max())
    found = kernels.filter(trace & time).join(
        ranges.lazy(), on=DEVICE, nulls_equal=True
    )
    return found.filter((start >= pl.col("from_ns")) & (start < pl.col("until_ns")))
