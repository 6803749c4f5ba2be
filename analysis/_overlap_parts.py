"""What each kind and group of communication takes of each window."""

from typing import Final

import polars as pl

from analysis._overlap_names import WHO
from analysis._overlap_walk import Chunk, counting_windows
from analysis._sweep import time_alone
from analysis._windows import place_in_windows, split_by_windows
from analysis.intervals import END, START, difference, lengths, union

#: How communication is told apart, and by which columns; the others are null.
SPLITS: Final = {
    "kind": ("kind",),
    "parallel": ("parallel_kind",),
    "parallel_and_kind": ("kind", "parallel_kind"),
    "group": ("parallel_kind", "group_id"),
}

#: Columns that tell one part of a window from another.
PART: Final = ("window", "split", *WHO)

#: What is measured of a part. [ns], [1]
MEASURES: Final = (
    "communication_ns",
    "exposed_ns",
    "alone_ns",
    "rows",
    "linked_rows",
)

#: Columns of the parts of windows.
PARTS: Final = {
    "window": pl.UInt32,
    **dict.fromkeys(PART[1:], pl.String),
    **dict.fromkeys(MEASURES, pl.Int64),
}


def parts_of(chunk: Chunk) -> pl.DataFrame:
    """Measure the communication of a chunk, told apart in each of the splits.

    Of each kind or group: the time that it is on, that of it which no compute hides,
    and that of it in which no other is on. A part with nulls in WHO holds the time in
    which several are on at once, so that `alone_ns` adds up to all exposed time.

    Returns:
        The columns of PART and MEASURES.
    """
    if chunk.work["kind"].null_count() == chunk.work.height:
        return pl.DataFrame(schema=PARTS)
    talks = pl.col("kind").is_not_null()
    talking = _split(chunk.work.lazy().filter(talks))
    compute = chunk.work.lazy().filter(~talks).select("number", START, END)
    pieces = chunk.pieces.lazy().select("number", "window", START, END)
    sets = union(talking, ["number", "split", *WHO])
    on = split_by_windows(sets, pieces, ["number"]).select("number", *PART, START, END)
    on = on.collect().lazy()
    exposed = difference(on, compute, ["number"], PART).collect().lazy()
    several, alone = time_alone(on, PART[:2], WHO), time_alone(exposed, PART[:2], WHO)
    together = pl.all_horizontal(pl.col(WHO).is_null())
    measured = [
        _named(lengths(on, PART), "communication_ns"),
        _named(several.filter(together), "communication_ns"),
        _named(lengths(exposed, PART), "exposed_ns"),
        _named(alone.filter(together), "exposed_ns"),
        _named(alone, "alone_ns"),
        _counts(chunk),
    ]
    empty = pl.LazyFrame(schema=PARTS)
    return summed(pl.concat([empty, *measured], how="diagonal"))


def summed(parts: pl.LazyFrame) -> pl.DataFrame:
    """Sum up what was measured of equal parts."""
    return parts.group_by(PART).agg(pl.col(MEASURES).sum()).collect()


def groups_of_windows(
    parts: pl.DataFrame,
    windows: pl.DataFrame,
    devices: pl.DataFrame,
    axes: pl.DataFrame,
) -> pl.DataFrame:
    """Return the parts of each step and, its windows together, of each whole trace.

    Args:
        parts: Columns of PARTS, a row for each part.
        windows: Windows of the devices, with their `step`.
        devices: Devices by their `number`.
        axes: What groups are for, from `axes_of_groups`.
    """
    length = (pl.col(END) - pl.col(START)).alias("span_ns")
    timed = parts.join(windows.select("window", "number", "step", length), on="window")
    spans = windows.group_by("number").agg(length.sum())
    alike = ["number", *PART[1:]]
    whole = timed.group_by(alike).agg(pl.col(MEASURES).sum()).join(spans, on="number")
    steps = timed.filter(pl.col("step").is_not_null())
    rows = pl.concat([whole, steps], how="diagonal").join(devices, on="number")
    basis = axes.select("run_id", "group_id", "parallel_basis")
    return rows.join(basis, on=["run_id", "group_id"], how="left").with_columns(
        is_shared=pl.all_horizontal(pl.col(WHO).is_null()),
        overlapped_ns=pl.col("communication_ns") - pl.col("exposed_ns"),
        exposed_alone_ns="alone_ns",
        collectives_count="rows",
        linked_ratio=pl.when(pl.col("rows") > 0).then(
            pl.col("linked_rows") / pl.col("rows")
        ),
    )


def _split(talking: pl.LazyFrame) -> pl.LazyFrame:
    """Repeat rows for each split, with nulls where it does not look."""
    others = pl.exclude(WHO)
    return pl.concat(
        talking.select(
            others,
            pl.lit(split).alias("split"),
            *[
                pl.col(name) if name in seen else pl.lit(None, pl.String).alias(name)
                for name in WHO
            ],
        )
        for split, seen in SPLITS.items()
    )


def _named(measured: pl.LazyFrame, name: str) -> pl.LazyFrame:
    return measured.select(*PART, pl.col("length_ns").alias(name))


def _counts(chunk: Chunk) -> pl.LazyFrame:
    """Count kernels in the window that each starts in."""
    talking = chunk.found.lazy().filter(pl.col("kind").is_not_null())
    rows = talking.select("number", START, "linked", *WHO)
    placed = place_in_windows(rows, counting_windows(chunk), ["number"])
    linked = pl.col("linked").cast(pl.Int64).sum()
    counted = _split(placed.filter(pl.col("window").is_not_null()))
    return counted.group_by(PART).agg(rows=pl.len().cast(pl.Int64), linked_rows=linked)
