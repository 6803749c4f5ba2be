"""What it costs a compute kernel that communication runs at the same time."""

from typing import Final

import polars as pl

from analysis._overlap_walk import Chunk
from analysis.intervals import END, START, intersection, lengths

#: Kernels that are on, and how long they were beside communication so far. [ns]
OPEN: Final = {
    "number": pl.UInt32,
    "name": pl.Categorical,
    START: pl.Int64,
    END: pl.Int64,
    "beside_ns": pl.Int64,
}

#: Kernels that have run.
RUN: Final = {
    "number": pl.UInt32,
    "name": pl.Categorical,
    "duration_ns": pl.Int64,
    "beside_ns": pl.Int64,
}


def beside(chunk: Chunk, still_on: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Measure how long compute kernels ran beside communication.

    Args:
        chunk: Work, with the columns of WHO and the `name` of kernels.
        still_on: Kernels that began in earlier chunks, as OPEN.

    Returns:
        Kernels that end in the chunk, as RUN, and those that are still on, as OPEN.
    """
    begun = chunk.found.filter(pl.col("kind").is_null()).select(
        "number",
        pl.col("name").cast(pl.Categorical),
        *(START, END),
        beside_ns=pl.lit(0, pl.Int64),
    )
    ranges = chunk.ranges.select("number", "from_ns", "to_ns")
    rows = pl.concat([still_on, begun]).with_row_index("id").join(ranges, on="number")
    here = rows.lazy().select(
        "number",
        "id",
        pl.max_horizontal(START, "from_ns").alias(START),
        pl.min_horizontal(END, "to_ns").alias(END),
    )
    talking = chunk.work.lazy().filter(pl.col("kind").is_not_null())
    shared = lengths(intersection(here, talking, ["number"], ["id"]), ["id"])
    seen = rows.join(shared.collect(), on="id", how="left").with_columns(
        pl.col("beside_ns") + pl.col("length_ns").fill_null(0)
    )
    is_over = pl.col(END) <= pl.col("to_ns")
    duration = (pl.col(END) - pl.col(START)).alias("duration_ns")
    run = seen.filter(is_over).with_columns(duration).select(list(RUN))
    return run, seen.filter(~is_over).select(list(OPEN))


def costs(run: pl.DataFrame, least_kernels: float, least_share: float) -> pl.DataFrame:
    """Compare kernels of one name that ran beside communication with those alone.

    Args:
        run: Kernels that have run, as RUN.
        least_kernels: Kernels of either sort that a median needs. [1]
        least_share: Share of a kernel from which it counts as overlapped. [1]

    Returns:
        Columns `number`, `name`, and those of HidingCosts that are measured.
    """
    duration, time = pl.col("duration_ns"), pl.col("beside_ns")
    alone = time == 0
    overlapped = (time > 0) & (time >= least_share * duration)
    medians = (
        run.filter(duration > 0)
        .group_by("number", "name")
        .agg(
            alone_count=alone.sum().cast(pl.Int64),
            overlapped_count=overlapped.sum().cast(pl.Int64),
            alone_ns=duration.filter(alone).median(),
            overlapped_ns=duration.filter(overlapped).median(),
        )
    )
    counts = pl.min_horizontal("alone_count", "overlapped_count")
    known = medians.filter(counts >= least_kernels)
    slower = pl.col("overlapped_ns") - pl.col("alone_ns")
    return known.with_columns(
        pl.col("name").cast(pl.String),
        slowdown_ratio=pl.col("overlapped_ns") / pl.col("alone_ns"),
        cost_ns=(slower * pl.col("overlapped_count")).round().cast(pl.Int64),
    )
