"""The rate of a cluster or run at one level and of one category, zero counts too."""

from typing import Final

import polars as pl

from analysis._rate_cells import ALL

#: What tells clusters and runs apart.
PLACE: Final = ("cluster", "run_id", "scope", "scope_id")

#: Stands between categories that are counted together.
JOINED: Final = "+"

#: Scopes that are whole.
WHOLE: Final = ("cluster", "run")


def totals(rates: pl.DataFrame, level: str, category: str) -> pl.DataFrame:
    """Return how many there were in each cluster and run, and the time observed.

    A category of which nothing happened has no row among the rates; here it has one
    with a count of zero, since its time was observed with that of all others.

    Args:
        rates: Rows of InterruptRates.
        level: Level of what is counted.
        category: Categories of the cause, joined by +; `all` for the sum.

    Returns:
        A row for each cluster and run: the columns of PLACE, `level`, `category`,
        `count`, `exposure_ns`, `node_time_ns` and the period.
    """
    of_level = rates.filter(
        (pl.col("level") == level)
        & pl.col("scope").is_in(WHOLE)
        & (pl.col("component") == ALL)
    )
    every = of_level.filter(pl.col("category") == ALL)
    wanted = of_level.filter(pl.col("category").is_in(category.split(JOINED)))
    counts = wanted.group_by(PLACE).agg(counted=pl.col("count").sum())
    joined = every.join(counts, on=list(PLACE), how="left", nulls_equal=True)
    periods = ("period_start_ns", "period_end_ns")
    return joined.select(
        *PLACE,
        "level",
        pl.lit(category).alias("category"),
        pl.col("counted").fill_null(0).alias("count"),
        "exposure_ns",
        "node_time_ns",
        *periods,
    ).sort(PLACE)
