"""Times of equal transfers brought together: by group, by parallel kind, by test."""

from typing import Final

import polars as pl

from analysis._collective_kinds import bus_factor, stem
from analysis._collective_matching import PAIR
from analysis.bandwidth_checks import benchmark_factor

#: Columns that tell one series of transfers from another.
SERIES: Final = (
    "run_id",
    "source",
    "scope",
    "group_id",
    "kind",
    "ranks",
    "in_place",
)

#: Up to so many sizes each is a point of its own. Beyond, as of an all-to-all of
#: tokens, sizes within a quarter of an octave share one. [1]
MOST_SIZES: Final = 64

_STEPS_OF_AN_OCTAVE: Final = 4

_COLUMNS: Final = (*SERIES, "group", "bytes_total", "time_ns", "factor")


def transfers(
    waits: pl.LazyFrame, checks: pl.LazyFrame, groups: pl.LazyFrame
) -> pl.LazyFrame:
    """Return a row per transfer and series that it is in.

    A collective of a trace is in the series of its group, and in that of its parallel
    kind where it is known: groups alike are as fast. One that misses a rank, or has no
    start, has no time. A benchmark's row is in the series of its hosts, else of its
    test; one whose bandwidth contradicts its time has none.

    Args:
        waits: Rows of CollectiveWaits.
        checks: Rows of BandwidthChecks.
        groups: What is known of groups: `run_id`, `group_id`, `parallel_kind`.

    Returns:
        The columns of SERIES, `group`, `bytes_total`, `time_ns` (null where unknown)
        and `factor`, busbw over algbw.
    """
    by_group = _of_traces(waits)
    kinds = groups.select("run_id", "parallel_kind", group="group_id")
    named = by_group.join(kinds, on=["run_id", "group"])
    by_kind = named.filter(pl.col("parallel_kind").is_not_null()).with_columns(
        scope=pl.lit("parallel_kind"), group_id="parallel_kind"
    )
    rows = (by_group, by_kind, _of_benchmarks(checks))
    return pl.concat([one.select(_COLUMNS) for one in rows])


def _of_traces(waits: pl.LazyFrame) -> pl.LazyFrame:
    ranks = pl.col("ranks_expected")
    pair = pl.when(pl.col("kind") == PAIR).then(1.0)
    return waits.with_columns(
        source=pl.lit("trace"),
        scope=pl.lit("group"),
        ranks=ranks,
        in_place=pl.lit(None, pl.Boolean),
        group=pl.col("group_id").str.replace(r" \d+>\d+$", ""),
        time_ns="transfer_ns",
        stem=stem(),
    ).with_columns(factor=pair.otherwise(bus_factor(ranks)))


def _of_benchmarks(checks: pl.LazyFrame) -> pl.LazyFrame:
    has_hosts = pl.col("hosts").is_not_null()
    sound = pl.col("algbw_agreement") != "differs"
    name = pl.coalesce("hosts", "test_id")
    return checks.with_columns(
        source=pl.lit("benchmark"),
        scope=pl.when(has_hosts).then(pl.lit("hosts")).otherwise(pl.lit("test")),
        group_id=name,
        group=name,
        time_ns=pl.when(sound).then("duration_ns"),
        factor=benchmark_factor(),
    )


def points(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the times of each series by size.

    Args:
        rows: What `transfers` returns.

    Returns:
        One row per series and size, null where it is not told: `count`, `low_bytes`,
        `high_bytes`, `bytes_total` (their median), and of the times `p05`, `p50`, `p95`
        and `p99`. [ns]
    """
    timed = rows.filter(pl.col("time_ns") > 0)
    size, time = pl.col("bytes_total"), pl.col("time_ns")
    sizes = timed.group_by(SERIES).agg(sizes=size.n_unique())
    step = (size.clip(1).log(2) * _STEPS_OF_AN_OCTAVE).floor().cast(pl.Int64)
    is_many = (pl.col("sizes") > MOST_SIZES) & (size > 0)
    point = pl.when(is_many).then(-step).otherwise(size)
    binned = timed.join(sizes, on=list(SERIES), nulls_equal=True)
    shares = {"p05": 0.05, "p50": 0.5, "p95": 0.95, "p99": 0.99}
    return (
        binned.with_columns(point=point)
        .group_by(*SERIES, "point")
        .agg(
            count=pl.len().cast(pl.Int64),
            low_bytes=size.min(),
            high_bytes=size.max(),
            bytes_total=size.median(),
            factor=pl.col("factor").first(),
            **{name: time.quantile(share, "linear") for name, share in shares.items()},
        )
        .drop("point")
    )
