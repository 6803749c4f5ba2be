"""Samples that were given twice or left out, as far as the feed can tell."""

from typing import Final

import polars as pl

from analysis._feed_cover import PASS, repeats, swept

#: What a fault is of, and where its samples were read before.
FAULT: Final = (
    *("run_id", "attempt", "step", "kind", "dataset", "epoch"),
    *("first", "after", "samples", "other_attempt", "other_step"),
)

_AGAIN: Final = (
    *(*PASS, "first", "after", "step", "attempt"),
    *("other_step", "other_attempt"),
)


def again_in_steps(batches: pl.DataFrame) -> pl.DataFrame:
    """Return the samples that a step gave twice.

    Args:
        batches: Batches of replicas, with their ranges.

    Returns:
        Columns run_id, attempt, step, dataset, epoch, first, after.
    """
    by = ["run_id", "attempt", "step", "dataset", "epoch"]
    ranged = batches.filter(pl.col("first").is_not_null())
    walked = swept(ranged.select(*by, "first", "after", "replica"), by, ("replica",))
    return repeats(walked).select(*by, "first", "after")


def again(
    crossed: pl.DataFrame,
    inside: pl.DataFrame,
    passes: pl.DataFrame,
    kept: pl.DataFrame,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the samples that the kept steps gave twice.

    Without an epoch a sample may be read again because a new pass began: then repeats
    are judged up to the step that begins with the first sample again, and only where
    samples come in order. In the last step of a pass, samplers fill up batches: fewer
    samples than there are replicas are no fault, and of those of its first step fewer
    than a step has.

    Args:
        crossed: What `rereads` finds between kept steps.
        inside: What `again_in_steps` finds in kept steps.
        passes: What `passes_of` returns.
        kept: Kept steps: run_id, step, expected, resumed.

    Returns:
        The faults, columns of FAULT, and what fills up: run_id and samples.
    """
    found = pl.concat([crossed.select(_AGAIN), _within(inside).select(_AGAIN)])
    about = passes.select(
        *PASS, "is_ordered", "lowest", "first_step", "last_step", "most"
    )
    joined = found.join(about, on=list(PASS), how="left", nulls_equal=True).join(
        kept.select("run_id", "step", "expected", "resumed"), on=["run_id", "step"]
    )
    judged = _before_wraps(joined)
    length = pl.col("after") - pl.col("first")
    total = length.sum().over(*PASS, "step")
    at_end = pl.col("step") == pl.col("last_step")
    of_first = (pl.col("other_step") == pl.col("first_step")).all().over(*PASS, "step")
    few = (total < pl.col("expected")) | (of_first & (total < pl.col("most")))
    marked = judged.with_columns(_fills=at_end & few)
    filling = marked.filter("_fills").group_by("run_id").agg(samples=_sum(length))
    return _collected(marked.filter(~pl.col("_fills")), "given_twice"), filling


def _within(inside: pl.DataFrame) -> pl.DataFrame:
    return inside.select(
        *[*PASS, "first", "after", "step", "attempt"],
        other_step="step",
        other_attempt="attempt",
    )


def _before_wraps(found: pl.DataFrame) -> pl.DataFrame:
    """Leave out repeats that may be a new pass: those of feeds that tell no epoch."""
    is_told = pl.col("epoch").is_not_null()
    restarts = pl.col("step") == pl.col("resumed")
    apart = pl.col("step") - pl.col("other_step") > 1
    wraps = (pl.col("first") == pl.col("lowest")) & apart & ~restarts
    begun = pl.when(wraps & ~is_told).then("step").min().over(PASS)
    in_first = (pl.col("step") < begun).fill_null(value=True) & pl.col("is_ordered")
    return found.filter(is_told | in_first)


def _collected(rows: pl.DataFrame, kind: str) -> pl.DataFrame:
    by = ["run_id", "attempt", "step", "dataset", "epoch"]
    length = pl.col("after") - pl.col("first")
    grouped = rows.with_columns(samples=length).group_by(by)
    found = grouped.agg(
        pl.col("first").min(),
        pl.col("after").max(),
        pl.col("samples").sum(),
        pl.col("other_attempt", "other_step").sort_by("other_step").last(),
        kind=pl.lit(kind),
    )
    return found.select(FAULT)


def left_out(
    holes: pl.DataFrame, passes: pl.DataFrame, order: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the samples that steps in order passed over: columns of FAULT.

    A hole is judged where samples come in order and are numbered one by one, and no
    row is missing from its first step to its last.

    Args:
        holes: What `holes` finds between kept steps, by step and attempt.
        passes: What `passes_of` returns.
        order: What `kept_order` returns.

    Returns:
        The faults, and the holes that are not judged: run_id, samples.
    """
    about = passes.select(*PASS, "is_ordered", "is_dense")
    found = holes.with_columns(
        step=pl.max_horizontal("step", "other_step"),
        other_step=pl.min_horizontal("step", "other_step"),
    ).drop("attempt", "other_attempt")
    late = order.select("run_id", "step", "attempt", _last="breaks")
    early = order.select(
        "run_id",
        other_step="step",
        other_attempt="attempt",
        _first="breaks",
        _whole="is_whole",
    )
    joined = (
        found.join(about, on=list(PASS), how="left", nulls_equal=True)
        .join(late, on=["run_id", "step"])
        .join(early, on=["run_id", "other_step"])
    )
    unbroken = (pl.col("_first") == pl.col("_last")) & pl.col("_whole")
    is_judged = unbroken & pl.col("is_ordered") & pl.col("is_dense")
    marked = joined.with_columns(_judged=is_judged)
    open_ones = marked.filter(~pl.col("_judged") & pl.col("is_ordered"))
    samples = _sum(pl.col("after") - pl.col("first"))
    unjudged = open_ones.group_by("run_id").agg(samples=samples)
    return _collected(marked.filter("_judged"), "left_out"), unjudged


def _sum(samples: pl.Expr) -> pl.Expr:
    """Return a sum over passes, each of which may count as far as numbers go. [1]"""
    return samples.cast(pl.Int128).sum()


def left_at_the_end(ended: pl.DataFrame, order: pl.DataFrame) -> pl.DataFrame:
    """Return passes that left out more than a sampler drops: columns of FAULT.

    Args:
        ended: What `ended` returns.
        order: What `kept_order` returns.
    """
    many = ended.filter(pl.col("is_known") & (pl.col("left_out") > pl.col("most")))
    placed = many.rename({"last_step": "step", "left_out": "samples"}).join(
        order.select("run_id", "step", "attempt"), on=["run_id", "step"]
    )
    return placed.with_columns(
        pl.lit("left_out").alias("kind"),
        pl.lit(None, pl.Int32).alias("other_attempt"),
        *[pl.lit(None, pl.Int64).alias(n) for n in ("first", "after", "other_step")],
    ).select(FAULT)
