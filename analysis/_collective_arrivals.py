"""When each rank came to a collective and when it left."""

import polars as pl

from analysis._collective_kinds import is_joint
from analysis._collective_matching import PAIR


def with_arrivals(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Give each row the time that its rank arrived and left, on its own clock. [ns]

    Times of a host's clock are no arrivals. Of such rows the duration counts: as all
    leave together, the rank that was in it longest came first.

    Args:
        rows: What `match` returns.

    Returns:
        The rows with `joint` (all leave together), `size` (ranks that belong there),
        `arrival_ns` and `left_ns`.
    """
    on_gpu = pl.col("time_basis") == "gpu"
    by_duration = pl.when(is_joint()).then(-pl.col("duration_ns"))
    left = pl.when(pl.col("duration_ns").is_not_null()).then(0)
    told = pl.when(pl.col("group_size") > 0).then("group_size")
    size = pl.when(pl.col("kind") == PAIR).then(2).otherwise(told)
    return rows.with_columns(
        joint=is_joint().fill_null(value=False),
        arrival_ns=pl.when(on_gpu).then("start_ns").otherwise(by_duration),
        left_ns=pl.when(on_gpu).then("end_ns").otherwise(left),
        size=pl.coalesce(size, pl.col("participant").n_unique().over("series")),
    )
