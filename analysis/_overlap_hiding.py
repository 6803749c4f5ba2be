"""What it costs a compute kernel that communication runs at the same time."""

from typing import Final

import polars as pl

from analysis._overlap_walk import Chunk
from analysis._windows import split_by_windows
from analysis.intervals import END, START, union
from analysis.robust import robust_sd

#: Kernels of a device that are compared, the first ones: 28 MB. [1]
MOST_KERNELS: Final = 1_000_000

#: Standard error of a median over sd / sqrt(n), of normal values: sqrt(pi / 2). [1]
MEDIAN_ERROR: Final = 1.2533

#: Standard errors that 95 % of a normal distribution lie within. [1]
WITHIN_95: Final = 1.96

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
    cut = split_by_windows(here, union(talking, ["number"]), ["number"])
    length = (pl.col(END) - pl.col(START)).sum().alias("length_ns")
    seen = rows.join(
        cut.group_by("id").agg(length).collect(), on="id", how="left"
    ).with_columns(pl.col("beside_ns") + pl.col("length_ns").fill_null(0))
    is_over = pl.col(END) <= pl.col("to_ns")
    duration = (pl.col(END) - pl.col(START)).alias("duration_ns")
    run = seen.filter(is_over).with_columns(duration).select(list(RUN))
    return run, seen.filter(~is_over).select(list(OPEN))


def passed(
    run: list[pl.DataFrame], over: pl.DataFrame, chunk: Chunk
) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """Tell the kernels of devices that the walk is past from those of the current one.

    Args:
        run: Kernels of the device that the walk was at, in pieces.
        over: Kernels that ended in the chunk.
        chunk: The chunk that the walk is at.

    Returns:
        Kernels of devices that are done, and those of the current one, at most
        MOST_KERNELS.
    """
    current = chunk.ranges["number"].max()
    seen = pl.concat([one["number"] for one in (*run, over)])
    if (seen == current).all():
        is_full = len(seen) - len(over) >= MOST_KERNELS
        return over.clear(), run if is_full else [*run, over]
    whole, is_current = pl.concat([*run, over]), pl.col("number") == current
    return whole.filter(~is_current), [whole.filter(is_current)]


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
    sorts = {
        "alone": time == 0,
        "overlapped": (time > 0) & (time >= least_share * duration),
    }
    measured = [
        measure.alias(f"{sort}_{name}")
        for sort, chosen in sorts.items()
        for name, measure in _measures(duration.filter(chosen)).items()
    ]
    medians = run.filter(duration > 0).group_by("number", "name").agg(measured)
    counts = pl.min_horizontal("alone_count", "overlapped_count")
    return _compared(medians.filter(counts >= least_kernels))


def _measures(lengths: pl.Expr) -> dict[str, pl.Expr]:
    error = MEDIAN_ERROR * robust_sd(lengths) / lengths.len().sqrt()
    return {
        "count": lengths.len().cast(pl.Int64),
        "ns": lengths.median(),
        "error": error / lengths.median(),
    }


def _compared(medians: pl.DataFrame) -> pl.DataFrame:
    slower = pl.col("overlapped_ns") - pl.col("alone_ns")
    ratio = pl.col("overlapped_ns") / pl.col("alone_ns")
    far = WITHIN_95**2 * (pl.col("alone_error") ** 2 + pl.col("overlapped_error") ** 2)
    return medians.with_columns(
        pl.col("name").cast(pl.String),
        slowdown_ratio=ratio,
        slowdown_low_ratio=ratio * (-far.sqrt()).exp(),
        slowdown_high_ratio=ratio * far.sqrt().exp(),
        cost_ns=slower * pl.col("overlapped_count"),
    )
