"""Batches known by their hash alone: those that came twice."""

from typing import Final

import polars as pl

from analysis._feed_cover import PASS
from analysis._feed_faults import FAULT

#: What is told of such batches beside: who read them, who did before, and how many.
MORE: Final = ("ranks", "others", "batches")

_HASH: Final = (*PASS, "batch_hash")


def hashes_again(hashed: pl.DataFrame, kept: pl.DataFrame) -> pl.DataFrame:
    """Return batches whose hash came before: columns of FAULT, and MORE.

    Which samples are left out no hash can tell. Without an epoch, hashes come again
    when a new pass begins: repeats are judged up to the step that repeats the first.

    Args:
        hashed: Batches of kept steps without a range, by rank: STEP, replica, rank,
            PASS, batch_hash.
        kept: Kept steps: run_id, step, resumed.
    """
    by = ["attempt", "step", "replica"]
    batches = hashed.group_by(*_HASH, *by).agg(ranks=pl.col("rank").unique())
    ordered = batches.sort(*_HASH, "step", "replica")
    told = ordered.unique(_HASH, keep="first", maintain_order=True)
    before = told.select(
        *_HASH, pl.col("step", "attempt", "ranks").name.prefix("other_")
    )
    joined = ordered.join(
        before, on=list(_HASH), nulls_equal=True, maintain_order="left"
    )
    marked = joined.with_columns(
        _nth=pl.int_range(pl.len()).over(_HASH),
        _begun=pl.col("step").min().over(PASS),
    )
    repeated = marked.filter(pl.col("_nth") > 0)
    placed = repeated.join(
        kept.select("run_id", "step", "resumed"), on=["run_id", "step"]
    )
    wraps = (
        (pl.col("other_step") == pl.col("_begun"))
        & (pl.col("step") - pl.col("other_step") > 1)
        & (pl.col("step") != pl.col("resumed"))
    )
    is_told = pl.col("epoch").is_not_null()
    new_pass = pl.when(wraps & ~is_told).then("step").min().over(PASS)
    is_first = (pl.col("step") < new_pass).fill_null(value=True)
    return _collected(placed.filter(is_told | is_first))


def _collected(rows: pl.DataFrame) -> pl.DataFrame:
    by = ["run_id", "attempt", "step", "dataset", "epoch"]
    is_last = pl.col("other_step") == pl.col("other_step").max()
    last = pl.col("other_ranks").filter(is_last)
    found = rows.group_by(by).agg(
        pl.col("other_attempt", "other_step").sort_by("other_step").last(),
        ranks=pl.col("ranks").explode().unique().sort(),
        others=last.explode().drop_nulls().unique().sort(),
        batches=pl.len().cast(pl.Int64),
    )
    unknown = [pl.lit(None, pl.Int64).alias(n) for n in ("first", "after", "samples")]
    kind = pl.lit("given_twice").alias("kind")
    return found.with_columns(*unknown, kind).select(*FAULT, *MORE)
