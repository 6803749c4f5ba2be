"""Whether replicas with longer documents work longer: a correlation, in sums."""

from typing import Final

import polars as pl

from analysis._feed_groups import REPLICA
from analysis._feed_rows import STEP, between

#: Replicas and steps below which a correlation says nothing. [1]
FEW: Final = 100

_SUMS: Final = ("n", "x", "y", "xx", "yy", "xy")


def sums(rows: pl.DataFrame, batches: pl.DataFrame, log: pl.LazyFrame) -> pl.DataFrame:
    """Return the sums of a portion that a correlation is made of.

    Of each replica in a step, x is its sum of squared document lengths and y the own
    work of its ranks, duration minus wait, both over the mean of the step's replicas.

    Args:
        rows: The portion.
        batches: Batches of its replicas.
        log: Rows of step logs: STEP, rank, duration_ns and wait_ns.

    Returns:
        Columns run_id and _SUMS, a row for each run that tells both.
    """
    square = pl.col("tokens_squared")
    whole = pl.when(square.null_count() == 0).then(square.cast(pl.Float64).sum())
    weights = batches.group_by(REPLICA).agg(x=whole).drop_nulls(["replica", "x"])
    ranks = rows.select(*REPLICA, "rank").unique().drop_nulls(["replica", "rank"])
    work = _work(log, weights, ranks)
    both = weights.join(work, on=list(REPLICA)).sort(REPLICA)
    about = both.with_columns(
        pl.col(name) / pl.col(name).mean().over(STEP) - 1 for name in ("x", "y")
    )
    several = about.filter(pl.len().over(STEP) > 1, pl.col("x", "y").is_finite())
    x, y = pl.col("x"), pl.col("y")
    return several.group_by("run_id").agg(
        n=pl.len().cast(pl.Float64),
        x=x.sum(),
        y=y.sum(),
        xx=(x * x).sum(),
        yy=(y * y).sum(),
        xy=(x * y).sum(),
    )


def _work(
    log: pl.LazyFrame, weights: pl.DataFrame, ranks: pl.DataFrame
) -> pl.DataFrame:
    """Return y of each replica: the mean own work of its ranks. [ns]"""
    if weights.is_empty():
        schema = {name: weights.schema[name] for name in REPLICA}
        return pl.DataFrame(schema={**schema, "y": pl.Float64})
    steps = weights.select(STEP).unique()
    ends = (between(steps, "run_id"), between(steps, "step"))
    near = log.filter(*ends, pl.col("wait_ns") >= 0)
    found = near.join(steps.lazy(), on=list(STEP), how="semi").select(
        *STEP, "rank", work=(pl.col("duration_ns") - pl.col("wait_ns")).cast(pl.Float64)
    )
    placed = ranks.join(found.collect(), on=[*STEP, "rank"])
    return placed.sort(*REPLICA, "rank").group_by(REPLICA).agg(y=pl.col("work").mean())


def correlations(parts: pl.DataFrame) -> pl.DataFrame:
    """Return how each run's squared lengths and work go together.

    Args:
        parts: What `sums` returns, of all portions.

    Returns:
        Columns run_id, work_correlation (Pearson's r, null where nothing varies or
        there are few) and work_count, of how many replicas and steps it is.
    """
    whole = parts.group_by("run_id", maintain_order=True).agg(pl.col(_SUMS).sum())
    n, x, y, xx, yy, xy = (pl.col(name) for name in _SUMS)
    spread = ((n * xx - x * x) * (n * yy - y * y)).sqrt()
    told = (n >= FEW) & (spread > 0)
    return whole.select(
        "run_id",
        work_correlation=pl.when(told).then(((n * xy - x * y) / spread).clip(-1, 1)),
        work_count=n.cast(pl.Int64),
    )
