"""How many ranks a benchmark had, where only its bandwidths tell."""

from typing import Final

import polars as pl

from analysis._latency_printed import TEST, half_printed

#: Room for the rounding of the test's own arithmetic, over that of what it prints. [1]
SLACK: Final = 1.02

#: Passes over the data: busbw over algbw is passes x (n - 1)/n.
_PASSES: Final = {"allreduce": 2.0} | dict.fromkeys(
    ("allgather", "reducescatter", "alltoall", "gather", "scatter"), 1.0
)


def with_ranks(tests: pl.LazyFrame) -> pl.LazyFrame:
    """Fill `ranks` where busbw over algbw leaves one number of ranks, and one only.

    busbw was computed before it was rounded. So each row bounds the ratio by the
    rounding of its busbw and of its time; all rows of a test share one ratio.

    Args:
        tests: Rows of BandwidthTests with what `with_digits` adds.

    Returns:
        The rows with `ranks` filled, and `ranks_basis`.
    """
    passes = pl.col("kind").replace_strict(_PASSES, default=None)
    low, high = _bounds()
    found = tests.with_columns(
        passes=passes,
        ratio_low=low.max().over(*TEST, "kind"),
        ratio_high=high.min().over(*TEST, "kind"),
    ).with_columns(
        least=_ranks(pl.col("ratio_low")).ceil(),
        most=_ranks(pl.col("ratio_high")).floor(),
    )
    is_one = (pl.col("least") == pl.col("most")) & (pl.col("least") > 1)
    guessed = pl.when(is_one).then("least").cast(pl.Int64)
    basis = (
        pl.when(pl.col("ranks").is_not_null())
        .then(pl.lit("told"))
        .when(guessed.is_not_null())
        .then(pl.lit("bandwidths"))
        .otherwise(pl.lit("unknown"))
    )
    told = found.with_columns(ranks_basis=basis, ranks=pl.coalesce("ranks", guessed))
    return told.drop("passes", "ratio_low", "ratio_high", "least", "most")


def _bounds() -> tuple[pl.Expr, pl.Expr]:
    """Return what busbw over algbw lies between, by one row. [1]"""
    half = half_printed() * SLACK
    time, apart = pl.col("duration_ns"), pl.col("time_half_ns") * SLACK
    printed = pl.when(pl.col("bytes_total") > 0).then("busbw_gbs")
    low = (printed - half) * (time - apart) / pl.col("bytes_total")
    return low, (printed + half) * (time + apart) / pl.col("bytes_total")


def _ranks(ratio: pl.Expr) -> pl.Expr:
    """Return the n of a ratio; null where the ratio bounds none. [1]"""
    passes = pl.col("passes")
    return pl.when(ratio < passes).then(passes / (passes - ratio))
