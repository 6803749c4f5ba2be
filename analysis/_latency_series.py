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


def told(waits: pl.LazyFrame, checks: pl.LazyFrame) -> pl.LazyFrame:
    """Return a row per collective of a trace and per row of a benchmark.

    One that misses a rank, or has no start, has no time; neither has a benchmark's row
    whose bandwidth contradicts its time.

    Args:
        waits: Rows of CollectiveWaits.
        checks: Rows of BandwidthChecks.

    Returns:
        The columns of SERIES, each transfer in the series of its group, of its hosts,
        or of its test; `bytes_total` and `time_ns`, null where unknown.
    """
    traced = waits.select(
        "run_id",
        "group_id",
        "kind",
        "bytes_total",
        source=pl.lit("trace"),
        scope=pl.lit("group"),
        ranks="ranks_expected",
        in_place=pl.lit(None, pl.Boolean),
        # of a group without a size all that is seen may be one rank: it waits, too
        time_ns=pl.when(pl.col("ranks_expected") > 1).then("transfer_ns"),
    )
    is_sound = pl.col("algbw_agreement") != "differs"
    is_of_hosts = pl.col("hosts").is_not_null()
    tested = checks.select(
        "run_id",
        "kind",
        "ranks",
        "in_place",
        "bytes_total",
        source=pl.lit("benchmark"),
        scope=pl.when(is_of_hosts).then(pl.lit("hosts")).otherwise(pl.lit("test")),
        group_id=pl.coalesce("hosts", "test_id"),
        time_ns=pl.when(is_sound).then("duration_ns"),
    )
    columns = (*SERIES, "bytes_total", "time_ns")
    return pl.concat([traced.select(columns), tested.select(columns)])


def number_series(rows: pl.LazyFrame, groups: pl.LazyFrame) -> pl.DataFrame:
    """Return the series of all rows, each with its number.

    Groups that are for the same thing are as fast, so that each is also in the series
    of its parallel kind, where that is known. Numbers are the same in any order.

    Args:
        rows: What `told` returns.
        groups: What `describe_groups` returns.

    Returns:
        One row per group and series that it is in: SERIES, `of` (the group's own name
        and `scope_of` its scope), `series`, `factor` (busbw over algbw),
        `parallel_kind` and `nodes`.
    """
    keys = (
        rows.select(SERIES)
        .unique()
        .with_columns(
            of="group_id",
            scope_of="scope",
            # a send and its receive are of the group whose ranks they are
            base=pl.col("group_id").str.replace(r" \d+>\d+$", ""),
            stem=stem(),
        )
    )
    known = keys.join(
        groups, left_on=["run_id", "base"], right_on=["run_id", "group_id"], how="left"
    )
    is_alike = (pl.col("source") == "trace") & pl.col("parallel_kind").is_not_null()
    by_kind = known.filter(is_alike).with_columns(
        scope=pl.lit("parallel_kind"), group_id="parallel_kind"
    )
    every = pl.concat([known, by_kind]).with_columns(factor=_factor()).collect()
    numbers = every.select(SERIES).unique().sort(SERIES).with_row_index("series")
    return every.join(numbers, on=list(SERIES), nulls_equal=True).drop("stem")


def _factor() -> pl.Expr:
    ranks = pl.col("ranks")
    traced = pl.when(pl.col("kind") == PAIR).then(1.0).otherwise(bus_factor(ranks))
    is_traced = pl.col("source") == "trace"
    return pl.when(is_traced).then(traced).otherwise(benchmark_factor())


def transfers(rows: pl.LazyFrame, series: pl.DataFrame) -> pl.LazyFrame:
    """Return a row per transfer and series that it is in, by the series' number.

    Args:
        rows: What `told` returns.
        series: What `number_series` returns.
    """
    own = {"group_id": "of", "scope": "scope_of"}
    keys = [own.get(column, column) for column in SERIES]
    return rows.join(
        series.lazy().select(*keys, "series"),
        left_on=list(SERIES),
        right_on=keys,
        nulls_equal=True,
    ).select("series", "bytes_total", "time_ns")


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
    sizes = timed.group_by("series").agg(sizes=size.n_unique())
    step = (size.clip(1).log(2) * _STEPS_OF_AN_OCTAVE).floor().cast(pl.Int64)
    is_many = (pl.col("sizes") > MOST_SIZES) & (size > 0)
    point = pl.when(is_many).then(-step).otherwise(size)
    shares = {"p05": 0.05, "p50": 0.5, "p95": 0.95, "p99": 0.99}
    return (
        timed.join(sizes, on="series")
        .select("series", "bytes_total", "time_ns", point=point)
        .group_by("series", "point")
        .agg(
            count=pl.len().cast(pl.Int64),
            low_bytes=size.min(),
            high_bytes=size.max(),
            bytes_total=size.median(),
            **{name: time.quantile(share, "linear") for name, share in shares.items()},
        )
        .drop("point")
    )
