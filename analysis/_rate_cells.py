"""Counts by scope and cause, held against the time observed."""

from typing import Final

import polars as pl

from analysis._exposure_spans import week_of
from analysis._rate_things import NOTICE, PLANNED

#: Category and component of a sum.
ALL: Final = "all"

#: Component where none is known.
UNKNOWN: Final = "unknown"

#: Columns that a cell is counted by.
CELL: Final = (
    "level",
    "scope",
    "cluster",
    "run_id",
    "scope_id",
    "category",
    "component",
)


def cells(things: pl.DataFrame, exposures: pl.DataFrame) -> pl.DataFrame:
    """Count things by scope and cause, and hold each count against its exposure.

    Args:
        things: Rows of `things`, with the `gpu_model` of their run.
        exposures: Rows of `exposures`.

    Returns:
        A row for each cell: CELL, `count`, `outside_count` and the exposure. Where
        there is an exposure, only what fell into it is in `count`; where there is
        none, all is. Clusters and runs in which nothing happened have a row, too.
    """
    counted = _sum_up(pl.concat([_scoped(things), _zeros(things, exposures)]))
    on = ["scope", "cluster", "run_id", "scope_id", "on_nodes"]
    joined = counted.with_columns(on_nodes=pl.col("level") != "interruption").join(
        exposures, on=on, how="left", nulls_equal=True
    )
    is_exposed = pl.col("exposure_ns") > 0
    count = pl.when(is_exposed).then("inside").otherwise("total")
    return joined.with_columns(
        count=count,
        outside_count=pl.col("total") - count,
        period_start_ns=pl.coalesce("period_start_ns", "first_ns"),
        period_end_ns=pl.coalesce("period_end_ns", "last_ns"),
    )


def _sum_up(scoped: pl.DataFrame) -> pl.DataFrame:
    """Count each cell, each category and all together."""
    of_category = scoped.with_columns(component=pl.lit(ALL))
    counting = of_category.filter(~pl.col("category").is_in([NOTICE, PLANNED]))
    of_all = counting.with_columns(category=pl.lit(ALL))
    summed = pl.concat([scoped, of_category, of_all])
    return summed.group_by(CELL).agg(
        total=pl.col("amount").sum(),
        inside=pl.col("amount").filter("is_observed").sum(),
        first_ns=pl.col("time_ns").min(),
        last_ns=pl.col("time_ns").max(),
    )


def _scoped(things: pl.DataFrame) -> pl.DataFrame:
    seen = things.with_columns(
        is_observed=pl.col("run_id").is_not_null(),
        component=pl.col("component").fill_null(UNKNOWN),
        week=_week(),
    )
    whole = seen.filter(~pl.col("is_repeated")).with_columns(
        run_id=pl.lit(None, pl.String)
    )
    of_run = seen.drop_nulls("run_id")
    return pl.concat(
        [
            _scope(whole, "cluster", "cluster"),
            _scope(whole.drop_nulls("host"), "host", "host"),
            _scope(whole.drop_nulls("gpu_model"), "gpu_model", "gpu_model"),
            _scope(whole.drop_nulls("week"), "week", "week"),
            _scope(of_run, "run", "run_id"),
            _scope(of_run.drop_nulls("week"), "week", "week"),
        ]
    )


def _week() -> pl.Expr:
    """Return the week of a thing. An attempt's end is no part of it any more."""
    is_end = pl.col("level") == "interruption"
    return week_of(pl.col("time_ns") - is_end.cast(pl.Int64))


def _scope(rows: pl.DataFrame, scope: str, scope_id: str) -> pl.DataFrame:
    named = rows.with_columns(scope=pl.lit(scope), scope_id=pl.col(scope_id))
    return named.select(*CELL, "amount", "is_observed", "time_ns")


def _zeros(things: pl.DataFrame, exposures: pl.DataFrame) -> pl.DataFrame:
    """Return a thing of no amount for each level that clusters and runs observe.

    Nodes are taken as observed where their cluster has told of any failure at all:
    silence of logs that were never read is no evidence.
    """
    told = things.filter(pl.col("level") == "line").select("cluster").unique()
    of_all = exposures.filter((pl.col("scope") != "host") & (pl.col("exposure_ns") > 0))
    heard = of_all.filter("on_nodes").join(told, on="cluster", how="semi")
    levels = pl.DataFrame({"level": ["line", "event", "incident"]})
    zeros = [
        heard.join(levels, how="cross"),
        of_all.filter(~pl.col("on_nodes")).with_columns(level=pl.lit("interruption")),
    ]
    columns = [name for name in CELL if name not in {"category", "component"}]
    return pl.concat([rows.select(columns) for rows in zeros]).select(
        *columns[:5],
        category=pl.lit(ALL),
        component=pl.lit(ALL),
        amount=pl.lit(0, pl.Int64),
        is_observed=pl.lit(value=True),
        time_ns=pl.lit(None, pl.Int64),
    )
