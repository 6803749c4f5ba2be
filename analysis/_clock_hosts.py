"""Hosts whose traces do not read one clock."""

from typing import Final

import polars as pl

from analysis._collective_matching import INSTANCE

#: Traces of one host that are further apart are on clocks of their own: ranks leave
#: within some 20 us, one a little early and one a little late. [ns]
APART_NS: Final = 40_000

#: Collectives that a trace must be seen in. [1]
LEAST_COUNT: Final = 3

#: Columns that tell one host of an attempt from another.
HOST: Final = ("run_id", "attempt", "host")


#: No host.
NOWHERE: Final = pl.DataFrame(
    schema={"run_id": pl.String, "attempt": pl.Int32, "host": pl.String}
)


def trace_deviations(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return how far the ends of each trace are from the middle of its host's.

    Only what a number or a step places counts: by order alone, one trace may be one
    collective ahead.

    Args:
        rows: What ranks saw of collectives, as for `common_ends`, with their host.

    Returns:
        One row per host and trace: `deviation_ns` and how many were seen.
    """
    on_gpu = pl.col("joint") & (pl.col("time_basis") == "gpu") & ~pl.col("is_uneven")
    known = pl.col("left_ns").is_not_null() & pl.col("host").is_not_null()
    placed_by = pl.col("number").is_not_null() | pl.col("within").is_not_null()
    ends = rows.filter(on_gpu & known & placed_by)
    left, first = pl.col("left_ns"), pl.col("left_ns").min()
    here = [*HOST, *INSTANCE]
    middles = ends.group_by(here).agg(
        first_ns=first,
        middle_ns=(left - first).median(),
        traces=pl.col("trace_id").n_unique(),
    )
    shared = middles.filter(pl.col("traces") > 1)
    away = left - pl.col("first_ns") - pl.col("middle_ns")
    placed = ends.join(shared, on=here, nulls_equal=True)
    return placed.group_by(*HOST, "trace_id").agg(
        deviation_ns=away.median(), seen=pl.len()
    )


def split_hosts(deviations: pl.DataFrame) -> pl.DataFrame:
    """Return the hosts whose traces are further apart than ranks leave.

    Args:
        deviations: Rows of `trace_deviations`, of all batches.
    """
    often = deviations.filter(pl.col("seen") >= LEAST_COUNT)
    deviation = pl.col("deviation_ns")
    traces = often.group_by(*HOST, "trace_id").agg(deviation.median())
    hosts = traces.group_by(HOST).agg(apart_ns=deviation.max() - deviation.min())
    return hosts.filter(pl.col("apart_ns") > APART_NS).select(HOST).sort(HOST)
