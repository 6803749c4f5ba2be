"""Clocks of hosts differ: what the ends of collectives tell of that, and taking it out.

Where all ranks leave together the ends are one instant. That one rank's ends are later
than those of its group by the same, time after time, is its clock.
"""

from typing import Final

import polars as pl

from analysis._collective_matching import INSTANCE
from analysis.robust import robust_sd
from ingest.times import SECOND_NS

#: Offset that is taken out. Ranks leave a collective within some 20 us of each other,
#: some always a little later; clocks of hosts are off by hundreds. [ns]
LEAST_OFFSET_NS: Final = 50_000

#: Offset that is taken out, over the scatter of the ends. [1]
LEAST_SDS: Final = 5.0

#: Offset that no clock of a cluster has: traces that are further apart were taken of
#: other times, and their collectives are not the same ones. [ns]
MOST_OFFSET_NS: Final = 60 * SECOND_NS

#: Collectives that an offset must be seen in. [1]
LEAST_COUNT: Final = 3

_SEEN_BY: Final = ("series", "participant")


def without_offsets(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Take the offsets of the clocks out of arrivals and ends.

    An offset is against the middle of its own group, which is what its ranks are
    compared with. It is the median over the collectives that all the group was seen
    in, and taken out only where it is beyond what ranks leave apart, so that times on
    one clock stay as they are. Drift within a trace stays in, and in the residual.

    Args:
        rows: What ranks saw of collectives: columns of INSTANCE, `participant`,
            `joint`, `size`, `time_basis`, `arrival_ns` and `left_ns`.

    Returns:
        The rows, with `offset_ns` where one was taken out.
    """
    offsets = _offsets(_deviations(rows))
    told = rows.join(offsets, on=list(_SEEN_BY), how="left", nulls_equal=True)
    shift = pl.col("offset_ns").fill_null(0)
    return told.with_columns(
        arrival_ns=pl.col("arrival_ns") - shift, left_ns=pl.col("left_ns") - shift
    )


def _deviations(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return how far each end is from the middle of its collective's ends. [ns]"""
    on_gpu = pl.col("joint") & (pl.col("time_basis") == "gpu")
    ends = rows.filter(on_gpu & pl.col("left_ns").is_not_null())
    first = pl.col("left_ns").min()
    middles = ends.group_by(INSTANCE).agg(
        first_ns=first,
        middle_ns=(pl.col("left_ns") - first).median(),
        is_whole=pl.len() >= pl.col("size").max(),
    )
    told = ends.join(middles.filter("is_whole"), on=list(INSTANCE), nulls_equal=True)
    deviation = pl.col("left_ns") - pl.col("first_ns") - pl.col("middle_ns")
    return told.select(*_SEEN_BY, deviation=deviation)


def _offsets(deviations: pl.LazyFrame) -> pl.LazyFrame:
    of_rank = deviations.group_by(_SEEN_BY).agg(
        offset=pl.col("deviation").median(),
        scatter=robust_sd(pl.col("deviation")),
        seen=pl.len(),
    )
    offset = pl.col("offset")
    apart = (offset.max() - offset.min()).over("series")
    scatter = pl.col("scatter").median().over("series")
    beyond_chance = (apart >= LEAST_OFFSET_NS) & (apart >= LEAST_SDS * scatter)
    is_clock = beyond_chance & (apart <= MOST_OFFSET_NS)
    often = pl.col("seen").min().over("series") >= LEAST_COUNT
    clocks = of_rank.filter(is_clock & often)
    return clocks.select(*_SEEN_BY, offset_ns=offset.round().cast(pl.Int64))
