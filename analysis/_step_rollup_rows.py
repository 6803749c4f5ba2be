"""Steps of any log, brought together over their ranks: the general way.

Ranks may be missing or tell a step twice, and a step may be done again in the attempt.
"""

from typing import Final

import polars as pl

from analysis._step_rollup_columns import GREATEST, PARTS, median_ns

_STEP: Final = ("scope", "attempt", "step")


def number_occurrences(rows: pl.DataFrame) -> pl.DataFrame:
    """Tell apart the times at which a step was done, and keep the first row of each.

    A step that is done again begins after all ranks have left it, either with a rank
    that has been in it, or later than it took any of them. Within that, ranks that are
    apart are only out of balance, or their clocks are. Of a rank that tells one time of
    a step twice the first row counts, and the last end.

    Args:
        rows: Rows of steps with start_ns, end_ns and work_ns. [ns]

    Returns:
        The rows that count, with `time`, counted from zero in each step, and `told`,
        how many rows the rank has of it.
    """
    by = list(_STEP)
    # an expression over groups within another does not see the groups of the other
    ordered = rows.sort(*by, "start_ns", "end_ns", "rank").with_columns(
        longest=(pl.col("end_ns") - pl.col("start_ns")).max().over(by),
        apart=pl.col("start_ns") - pl.col("end_ns").cum_max().shift(1).over(by),
    )
    is_apart = (pl.col("apart") >= 0).fill_null(value=False).cast(pl.Int64)
    clusters = ordered.with_columns(cluster=is_apart).with_columns(
        cluster=pl.col("cluster").cum_sum().over(by), is_first=pl.col("cluster") > 0
    )
    back = clusters.with_columns(before=pl.col("cluster").shift(1).over(*by, "rank"))
    is_back = (pl.col("before") < pl.col("cluster")).fill_null(value=False)
    is_late = (pl.col("apart") > pl.col("longest")).fill_null(value=False)
    told_back = back.with_columns(is_again=is_back | is_late).with_columns(
        is_again=pl.col("is_first") & pl.col("is_again").any().over(*by, "cluster")
    )
    numbered = told_back.with_columns(
        time=pl.col("is_again").cast(pl.Int64).cum_sum().over(by)
    ).select(*rows.columns, "time")
    seat = [*by, "time", "rank"]
    told = numbered.with_columns(
        pl.col("end_ns").max().over(seat), told=pl.len().cast(pl.Int64).over(seat)
    )
    return told.unique(seat, keep="first", maintain_order=True)


def step_sums(rows: pl.DataFrame, stall_ratio: float) -> pl.DataFrame:
    """Bring the ranks of each step together.

    Args:
        rows: What `number_occurrences` returns.
        stall_ratio: Share of its step from which a rank is stalled by its input. [1]

    Returns:
        Columns of StepRollups but run_id, unsorted.
    """
    sums = [_sum_where_told(part).alias(f"{part}_total") for part in PARTS]
    is_stalled = pl.col("data_ns") > pl.col("duration_ns") * stall_ratio
    is_slowest = pl.col("work_ns") == pl.col("work_ns").max()
    return (
        rows.group_by(*_STEP, "time")
        .agg(
            pl.col("start_ns").min(),
            pl.col("end_ns").max(),
            pl.len().cast(pl.Int64).alias("ranks"),
            pl.col("told").sum().alias("rows"),
            pl.col("step_count").fill_null(1).max(),
            pl.col("duration_ns").sum().alias("duration_ns_total"),
            pl.col("duration_ns").max().alias("duration_ns_max"),
            *sums,
            *[
                pl.col(part).count().cast(pl.Int64).alias(_ranks(part))
                for part in PARTS
            ],
            *[pl.col(part).max().alias(f"{part}_max") for part in GREATEST],
            _sum_where_told("tokens"),
            stalled_ranks=pl.when(pl.col("data_ns").count() > 0).then(
                is_stalled.sum().cast(pl.Int64)
            ),
            wait_scope=pl.col("wait_scope").max(),
            clock=pl.col("clock").min(),
            slowest_work_ns=pl.col("work_ns").max(),
            slowest_rank=pl.col("rank").filter(is_slowest).min(),
            typical_work_ns=median_ns("work_ns"),
        )
        .drop("time")
    )


def _ranks(part: str) -> str:
    return f"{part.removesuffix('_ns')}_ranks"


def _sum_where_told(column: str) -> pl.Expr:
    known = pl.col(column).count() > 0
    return pl.when(known).then(pl.col(column).sum()).alias(column)
