"""How much of the time observed had passed when: a clock that only runs with nodes."""

from typing import Final

import polars as pl

#: Columns of a clock: from `at_ns` on, `pace` of exposure passes in each ns.
CLOCK: Final = ("series", "at_ns", "passed_ns", "pace")


def clock(spans: pl.DataFrame, weight: str) -> pl.DataFrame:
    """Return the clock of each series of spans.

    Args:
        spans: `series`, `start_ns`, `end_ns` and the weight.
        weight: Column of what each ns of a span counts for; none is null.

    Returns:
        The columns of CLOCK, in order. [ns]
    """
    opening = spans.select("series", at_ns="start_ns", change=weight)
    closing = spans.select("series", at_ns="end_ns", change=-pl.col(weight))
    changes = pl.concat([opening, closing]).group_by("series", "at_ns")
    summed = changes.agg(pl.col("change").sum()).sort("series", "at_ns")
    at = pl.col("at_ns")
    paced = summed.with_columns(pace=pl.col("change").cum_sum().over("series"))
    length = (at - at.shift(1).over("series")).fill_null(0).cast(pl.Int128)
    before = length * pl.col("pace").shift(1).over("series").fill_null(0)
    timed = paced.with_columns(passed_ns=before)
    return timed.with_columns(pl.col("passed_ns").cum_sum().over("series")).select(
        CLOCK
    )


def read(clocks: pl.DataFrame, instants: pl.DataFrame, at: str) -> pl.DataFrame:
    """Tell how much had passed at instants: `passed_ns`, zero before a clock starts.

    Args:
        clocks: Rows of `clock`.
        instants: `series` and the column of instants.
        at: Column of the instants. [ns]
    """
    timed = clocks.sort("at_ns").rename({"at_ns": "_since"})
    joined = instants.sort(at).join_asof(
        timed,
        left_on=at,
        right_on="_since",
        by="series",
        strategy="backward",
        check_sortedness=False,
    )
    since = (pl.col(at) - pl.col("_since")).cast(pl.Int128) * pl.col("pace")
    passed = (pl.col("passed_ns") + since).fill_null(0)
    return joined.with_columns(passed_ns=passed).drop("_since", "pace")


def when(clocks: pl.DataFrame, passed: pl.DataFrame) -> pl.DataFrame:
    """Tell when so much had passed: `at_ns`, rounded down.

    Args:
        clocks: Rows of `clock`.
        passed: `series` and `wanted_ns`, at most what passes in all. [ns]
    """
    joined = passed.join(clocks, on="series")
    reached = joined.filter(
        (pl.col("passed_ns") <= pl.col("wanted_ns")) & (pl.col("pace") > 0)
    )
    last = reached.sort("series", "at_ns").unique(
        "series", keep="last", maintain_order=True
    )
    rest = (pl.col("wanted_ns") - pl.col("passed_ns")) // pl.col("pace")
    return last.select("series", at_ns=pl.col("at_ns") + rest.cast(pl.Int64))
