"""Faults of restarts: what an attempt reads first against what came before it."""

from typing import Final

import polars as pl

from analysis._feed_faults import FAULT
from analysis._feed_rows import STEP

_ATTEMPT: Final = ("run_id", "attempt")


def named(faults: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """Name the faults that a restart made.

    A restart repeats where the first step of an attempt, and those that follow it,
    read what an earlier attempt had read; it skips where the samples between the last
    step kept of one attempt and the first of the next were read by neither.

    Args:
        faults: Columns of FAULT.
        facts: Steps with resumed, the first of their attempt.
    """
    firsts = facts.group_by(_ATTEMPT).agg(resumed=pl.col("resumed").min())
    joined = faults.join(firsts, on=list(_ATTEMPT), how="left")
    crosses = (pl.col("attempt") != pl.col("other_attempt")).fill_null(value=False)
    at_first = crosses & (pl.col("step") == pl.col("resumed"))
    is_twice = pl.col("kind") == "given_twice"
    begins = (at_first & is_twice).any().over(_ATTEMPT)
    kind = (
        pl.when(crosses & is_twice & begins)
        .then(pl.lit("restart_repeats"))
        .when(crosses & ~is_twice)
        .then(pl.lit("restart_skips"))
        .otherwise("kind")
    )
    return joined.with_columns(kind=kind).select(FAULT)


def signatures(spans: pl.DataFrame, hashed: pl.DataFrame) -> pl.DataFrame:
    """Return one number for all that a step read, equal where two read the same.

    Args:
        spans: Samples of each step: STEP, dataset, epoch, first, after.
        hashed: Batches known by their hash alone: STEP, dataset, epoch, batch_hash.
    """
    ranges = spans.select(
        *STEP,
        samples=pl.col("after") - pl.col("first"),
        part=pl.struct("dataset", "epoch", "first", "after").hash(),
    )
    hashes = hashed.select(
        *STEP,
        samples=pl.lit(None, pl.Int64),
        part=pl.struct("dataset", "epoch", "batch_hash").hash(),
    )
    parts = pl.concat([ranges, hashes]).group_by(STEP)
    return parts.agg(pl.col("part").sum(), pl.col("samples").sum()).sort(STEP)


def skipped(
    facts: pl.DataFrame, read: pl.DataFrame, known: pl.DataFrame
) -> pl.DataFrame:
    """Return restarts that went on further than they should: columns of FAULT.

    Where samples come in any order, the steps that the attempt before had gone on to
    tell what should have followed: an attempt that begins with what stood some steps
    later there, and never reads the steps between, skipped them.

    Args:
        facts: What `with_lacking` returns.
        read: What `signatures` returns.
        known: Faults that are known: no restart is told twice.
    """
    whole = facts.filter("is_whole").select(*STEP, "resumed")
    told = read.join(whole, on=list(STEP))
    begun = told.filter(pl.col("step") == pl.col("resumed"))
    before = told.select(
        *["run_id", "part", "samples"], other_attempt="attempt", other_step="step"
    )
    same = begun.select(*STEP, "part").join(before, on=["run_id", "part"])
    ahead = same.filter(
        (pl.col("other_attempt") < pl.col("attempt"))
        & (pl.col("other_step") > pl.col("step"))
    )
    ordered = ahead.sort(*_ATTEMPT, "other_attempt", "other_step")
    found = ordered.unique(_ATTEMPT, keep="first", maintain_order=True)
    fresh = found.join(known, on=list(STEP), how="anti").drop("part", "samples")
    between = fresh.join(
        before.rename({"other_step": "at"}), on=["run_id", "other_attempt"]
    ).filter((pl.col("at") >= pl.col("step")) & (pl.col("at") < pl.col("other_step")))
    own = told.select(*_ATTEMPT, "part")
    missed = between.join(own, on=[*_ATTEMPT, "part"], how="anti")
    return _as_faults(missed)


def _as_faults(missed: pl.DataFrame) -> pl.DataFrame:
    grouped = missed.group_by(*STEP, "other_attempt", "other_step").agg(
        samples=pl.when(pl.col("samples").sum() > 0).then(pl.col("samples").sum())
    )
    return grouped.with_columns(
        pl.lit("restart_skips").alias("kind"),
        pl.lit(None, pl.String).alias("dataset"),
        *[pl.lit(None, pl.Int64).alias(name) for name in ("epoch", "first", "after")],
    ).select(FAULT)
