"""Where a rank stands in the parallel layout of its run."""

from typing import Final

import polars as pl

#: Axes of the layout; their product is the number of ranks.
AXES: Final = ("tp", "cp", "pp", "dp")

#: How ranks are numbered where a card does not say: tensor neighbours first.
DEFAULT_ORDER: Final = ",".join(AXES)


def place_in_layout(ranks: pl.LazyFrame, runs: pl.LazyFrame) -> pl.LazyFrame:
    """Add tp_rank, cp_rank, pp_rank, dp_rank and ep_rank.

    Ranks are numbered with the first axis of the order running fastest, so that the
    position on an axis is `rank // (product of the axes before it) % size`. Experts are
    spread over the context and data positions of a stage, which is how Megatron-Core
    builds its expert groups: the position among them modulo ep.

    Args:
        ranks: Rows with run_id and a nullable rank.
        runs: Rows of Runs: sizes of the axes and rank_order.

    Returns:
        The rows; positions are null without a rank or a layout.
    """
    strides = _strides(runs)
    position = {
        f"{axis}_rank": (pl.col("rank") // pl.col(f"{axis}_stride")) % pl.col(axis)
        for axis in AXES
    }
    cp_first = pl.col("cp_stride") < pl.col("dp_stride")
    spread = (
        pl.when(cp_first)
        .then(pl.col("cp_rank") + pl.col("cp") * pl.col("dp_rank"))
        .otherwise(pl.col("dp_rank") + pl.col("dp") * pl.col("cp_rank"))
    )
    return (
        ranks.join(strides, on="run_id", how="left")
        .with_columns(**position)
        .with_columns(ep_rank=spread % pl.col("ep"))
        .drop(*AXES, "ep", *[f"{axis}_stride" for axis in AXES])
    )


def _strides(runs: pl.LazyFrame) -> pl.LazyFrame:
    """Return the sizes of the axes of each run and how far apart neighbours are."""
    positive = [pl.when(pl.col(n) > 0).then(pl.col(n)).alias(n) for n in (*AXES, "ep")]
    order = pl.col("rank_order").fill_null(DEFAULT_ORDER).str.split(",")
    sized = runs.select("run_id", *positive, axis=order)
    size = pl.coalesce(pl.when(pl.col("axis") == n).then(pl.col(n)) for n in AXES)
    steps = (
        sized.explode("axis")
        .with_columns(pl.col("axis").str.strip_chars())
        .with_columns(size=size)
        .with_columns(stride=pl.col("size").cum_prod().over("run_id") // pl.col("size"))
    )
    return steps.group_by("run_id").agg(
        *[pl.col(n).first() for n in (*AXES, "ep")],
        *[
            pl.col("stride").filter(pl.col("axis") == n).first().alias(f"{n}_stride")
            for n in AXES
        ],
    )
