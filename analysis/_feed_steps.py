"""What each step was given, which steps were kept, and which lack somebody's rows."""

from typing import Final

import polars as pl

from analysis._feed_groups import Given
from analysis._feed_rows import STEP

#: What is added up over the replicas of a step.
_SUMMED: Final = ("samples", "tokens")


def facts_of(rows: pl.DataFrame, told: Given) -> pl.DataFrame:
    """Return what the steps of a portion were given.

    Args:
        rows: The portion.
        told: What its replicas were given.

    Returns:
        Columns of STEP; ranks_seen, replicas_seen (0 where no replica is told),
        disputed_count (replicas left out), samples (null where a batch has no range),
        tokens, squares_ratio (the greatest sum of squared lengths of a replica over
        the mean), squares_count (replicas that tell theirs), heaviest (that replica)
        and longest_document.
    """
    seen = rows.group_by(STEP).agg(
        ranks_seen=pl.col("rank").drop_nulls().n_unique(),
        replicas_seen=pl.col("replica").drop_nulls().n_unique(),
    )
    open_ones = told.disputed.filter(~pl.col("is_settled"))
    disputed = open_ones.group_by(STEP).agg(disputed_count=pl.len())
    by = [*STEP, "replica"]
    unnamed = pl.when(pl.col("replica").is_null()).then("rank")
    replicas = (
        told.batches.with_columns(_of=unnamed)
        .group_by(*by, "_of")
        .agg(
            samples=_whole(pl.col("after") - pl.col("first")),
            tokens=_whole(pl.col("tokens")),
            squares=_whole(pl.col("tokens_squared")),
            longest_document=pl.col("longest_document").max(),
        )
    )
    steps = replicas.sort(*by, "_of").group_by(STEP).agg(**_sums())
    joined = seen.join(steps, on=list(STEP), how="left")
    return (
        joined.join(disputed, on=list(STEP), how="left")
        .with_columns(pl.col("disputed_count").fill_null(0))
        .with_columns(pl.col(pl.UInt32).cast(pl.Int64))
        # null where a sum is more than a column holds
        .with_columns(pl.col(_SUMMED).cast(pl.Int64, strict=False))
        .sort(STEP)
    )


def _whole(value: pl.Expr) -> pl.Expr:
    """Return a sum of any size, null where a part of it is."""
    return pl.when(value.null_count() == 0).then(value.cast(pl.Int128).sum())


def _sums() -> dict[str, pl.Expr]:
    squares = pl.col("squares").cast(pl.Float64)
    told = squares.drop_nulls()
    ratio = pl.when(told.mean() > 0).then(told.max() / told.mean())
    return {name: _whole(pl.col(name)) for name in _SUMMED} | {
        "squares_ratio": ratio,
        "squares_count": squares.count(),
        "heaviest": pl.col("replica").sort_by(squares, nulls_last=False).last(),
        "longest_document": pl.col("longest_document").max(),
    }


def with_kept(facts: pl.DataFrame, attempts: pl.DataFrame) -> pl.DataFrame:
    """Tell which steps were kept: those that no later attempt went back to.

    Args:
        facts: What `facts_of` returns, of all portions.
        attempts: Rows of Attempts: where each one's steps began.

    Returns:
        The steps with is_kept and resumed, the first step of their attempt.
    """
    by = ["run_id", "attempt"]
    logged = attempts.select(*by, pl.col("first_step").alias("step"))
    seen = facts.select(*by, "step")
    read = seen.select(by).unique()
    # only attempts with reads: nothing is known of what the others went back to
    firsts = pl.concat([seen, logged.join(read, on=by, how="semi")]).drop_nulls()
    resumed = firsts.group_by(by).agg(resumed=pl.col("step").min()).sort(by)
    later = pl.col("resumed").cum_min(reverse=True).shift(-1).over("run_id")
    bounded = resumed.with_columns(_until=later)
    joined = facts.join(bounded, on=by, how="left")
    is_kept = (pl.col("step") < pl.col("_until")).fill_null(value=True)
    return joined.with_columns(is_kept=is_kept).drop("_until").sort(STEP)


def with_lacking(facts: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Tell how many replicas lack rows in each step.

    A replica is expected where the layout has it, or where its attempt has it in
    another step. Where no replica is told, ranks are counted in their place.

    Args:
        facts: What `with_kept` returns.
        runs: Rows of Runs: dp and gpu_count.

    Returns:
        The steps with expected, lacking, is_whole (nothing is missing from it or open)
        and by_replica, whether replicas are told.
    """
    by = ["run_id", "attempt"]
    joined = facts.join(runs.select("run_id", "dp"), on="run_id", how="left")
    told = pl.col("replicas_seen") > 0
    seen = pl.when(told).then("replicas_seen").otherwise("ranks_seen")
    counted = joined.with_columns(by_replica=told.all().over("run_id"), _seen=seen)
    most = pl.col("_seen").max().over(by)
    layout = pl.when("by_replica").then("dp")
    expected = pl.max_horizontal(most, layout)
    lacking = expected - pl.col("_seen")
    return counted.with_columns(
        expected=expected,
        lacking=lacking,
        is_whole=(lacking == 0) & (pl.col("disputed_count") == 0),
    ).drop("_seen", "dp")


def kept_order(facts: pl.DataFrame) -> pl.DataFrame:
    """Number what breaks the sequence of kept steps of each run.

    Args:
        facts: What `with_lacking` returns.

    Returns:
        Columns run_id, step, attempt, breaks: between two steps, itself included,
        nothing is missing where the one's number of breaks and the other's are equal,
        and is_whole holds of the first.
    """
    kept = facts.filter("is_kept").sort("run_id", "step")
    follows = pl.col("step") - pl.col("step").shift(1).over("run_id") == 1
    is_broken = ~pl.col("is_whole") | ~follows.fill_null(value=True)
    breaks = is_broken.cast(pl.Int64).cum_sum().over("run_id")
    return kept.select("run_id", "step", "attempt", "is_whole", breaks=breaks)
