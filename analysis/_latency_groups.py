"""What is known of groups of ranks: what they are for, and on how many nodes."""

from typing import Final

import polars as pl

_GROUP: Final = ("run_id", "group_id")


def describe_groups(collectives: pl.LazyFrame, gpus: pl.LazyFrame) -> pl.LazyFrame:
    """Return what groups are for, and the nodes that their ranks are on.

    A rank's node is that of its GPU, else the one that its trace tells. Nodes of a
    group are known where those of all its ranks are, and the same in every attempt.

    Args:
        collectives: Rows of Collectives.
        gpus: Rows of Gpus.

    Returns:
        One row per group: `run_id`, `group_id`, `parallel_kind` and `nodes`.
    """
    placed = _members(collectives).join(_seats(gpus), on=["run_id", "rank"], how="left")
    node = pl.coalesce(
        pl.when(pl.col("seats") == 1).then("seat"),
        pl.when(pl.col("hosts") == 1).then("host"),
    )
    by_attempt = (
        placed.with_columns(node=node)
        .group_by(*_GROUP, "attempt")
        .agg(
            pl.col("parallel_kind").drop_nulls().min(),
            size=pl.col("group_size").max(),
            placed=pl.col("node").count(),
            nodes=pl.col("node").drop_nulls().n_unique(),
        )
    )
    whole = (pl.col("placed") == pl.col("size")).fill_null(value=False).all()
    same = pl.col("nodes").min() == pl.col("nodes").max()
    return by_attempt.group_by(_GROUP).agg(
        pl.col("parallel_kind").drop_nulls().min(),
        nodes=pl.when(whole & same).then(pl.col("nodes").max().cast(pl.Int64)),
    )


def _members(collectives: pl.LazyFrame) -> pl.LazyFrame:
    """Return the ranks of each group, and the node that their traces tell."""
    host = pl.col("host").drop_nulls()
    return collectives.group_by(*_GROUP, "rank", "rank_in_group").agg(
        pl.col("parallel_kind").drop_nulls().min(),
        pl.col("group_size").max(),
        host=host.min(),
        hosts=host.n_unique(),
    )


def _seats(gpus: pl.LazyFrame) -> pl.LazyFrame:
    """Return the node of each rank in each attempt."""
    known = gpus.filter(pl.col("rank").is_not_null() & pl.col("host").is_not_null())
    return known.group_by("run_id", "attempt", "rank").agg(
        seat=pl.col("host").min(), seats=pl.col("host").n_unique()
    )
