"""Passes over data sets: in order or not, over or not, and what can be told of them."""

from typing import Final

import polars as pl

from analysis._feed_cover import PASS, merged

#: Share of neighbouring steps of which the later reads what follows, from which on a
#: feed is one in order. Steps of a shuffled feed span the data set: nearly none does.
ORDERED_FROM: Final = 0.8

#: Share of the samples of a step that follow another of it, from which on a feed is
#: one in order. Hardly any does where samples are shuffled. [1]
JOINED_FROM: Final = 0.5

#: Below these counts a shuffled feed may look ordered by chance. [1]
_FEW_PAIRS: Final = 20
_FEW_SAMPLES: Final = 8

#: Holes of a pass, as a share of its steps, above which its samples are not numbered
#: one by one, or its ends are counted as inside: no hole says anything then.
SPARSE_FROM: Final = 0.1

#: Holes that are never too many, and those up to which a short pass is judged: where
#: numbers have gaps everywhere, more than that share of its batches ends in one. [1]
_FEW_HOLES: Final = 2
_SHORT_HOLES: Final = 10


def passes_of(
    spans: pl.DataFrame, holes: pl.DataFrame, kept: pl.DataFrame
) -> pl.DataFrame:
    """Return what is known of each pass.

    Args:
        spans: Kept samples of each step: PASS, step, first, after.
        holes: What `holes` finds among them.
        kept: Kept steps: run_id, step, expected (replicas).

    Returns:
        Columns of PASS; steps_count, first_step, last_step, covered (samples), most
        (samples of its largest step), is_ordered, is_dense and holes_count.
    """
    steps = (
        spans.group_by(*PASS, "step")
        .agg(
            pl.col("first").min(),
            pl.col("after").max(),
            samples=(pl.col("after") - pl.col("first")).sum(),
            spans=pl.len().cast(pl.Int64),
        )
        .sort(*PASS, "step")
    )
    before = pl.col("after").shift(1).over(PASS)
    measured = steps.with_columns(_follows=pl.col("first") >= before).join(
        kept.select("run_id", "step", "expected"), on=["run_id", "step"], how="left"
    )
    passes = measured.group_by(PASS).agg(
        steps_count=pl.len().cast(pl.Int64),
        first_step=pl.col("step").min(),
        last_step=pl.col("step").max(),
        most=pl.col("samples").max(),
        lowest=pl.col("first").min(),
        _batches=pl.col("expected").sum(),
        _joined=(pl.col("samples") - pl.col("spans")).sum(),
        _could=(pl.col("samples") - 1).sum(),
        _pairs=pl.col("_follows").count(),
        _ordered=pl.col("_follows").sum(),
    )
    found = holes.group_by(PASS).agg(holes_count=pl.len().cast(pl.Int64))
    both = passes.join(covered(spans, PASS), on=list(PASS), nulls_equal=True)
    joined = both.join(found, on=list(PASS), how="left", nulls_equal=True)
    return _judged(joined.with_columns(pl.col("holes_count").fill_null(0)))


def _judged(passes: pl.DataFrame) -> pl.DataFrame:
    """Judge the order of each data set by all its passes: one loader reads them."""
    pairs, ordered, joined, could = (
        pl.col(f"_{name}").sum().over("run_id", "dataset")
        for name in ("pairs", "ordered", "joined", "could")
    )
    follows = ordered >= ORDERED_FROM * pairs
    joins = (could >= _FEW_SAMPLES) & (joined >= JOINED_FROM * could)
    alone = (could < _FEW_SAMPLES) & (pairs >= _FEW_PAIRS)
    short = (SPARSE_FROM * pl.col("_batches")).clip(_FEW_HOLES, _SHORT_HOLES)
    limit = pl.max_horizontal(SPARSE_FROM * pl.col("steps_count"), short)
    return passes.with_columns(
        is_ordered=follows & (joins | alone),
        is_dense=pl.col("holes_count") <= limit,
    ).drop("_pairs", "_ordered", "_joined", "_could", "_batches")


def covered(spans: pl.DataFrame, by: tuple[str, ...]) -> pl.DataFrame:
    """Return how many samples each set covers, each counted once. [1]"""
    apart = merged(spans, by)
    length = pl.col("after") - pl.col("first")
    return apart.group_by(by).agg(covered=length.sum())


def ended(
    passes: pl.DataFrame, spans: pl.DataFrame, holes: pl.DataFrame, order: pl.DataFrame
) -> pl.DataFrame:
    """Return the passes that are over, and what each left out in the end.

    A pass is over when a later one of its data set has begun. The data set is what
    all its passes read together.

    Args:
        passes: What `passes_of` returns.
        spans: Kept samples of each step: PASS, step, first, after.
        holes: What `holes` finds among them.
        order: What `kept_order` returns.

    Returns:
        Columns of PASS, last_step, most, is_known (whether every step of it has all
        its rows, the first of the run among them), left_out (samples that no hole
        counts; up to `most` may have been dropped on purpose).
    """
    sets = ("run_id", "dataset")
    numbered = passes.filter(pl.col("epoch").is_not_null())
    known = spans.filter(pl.col("epoch").is_not_null())
    whole = covered(known, sets).rename({"covered": "universe"})
    later = pl.col("epoch") < pl.col("epoch").max().over(sets)
    is_first = pl.col("epoch") == pl.col("epoch").min().over(sets)
    over = numbered.with_columns(is_first=is_first).filter(later)
    joined = over.join(whole, on=list(sets), nulls_equal=True)
    length = pl.col("after") - pl.col("first")
    counted = holes.group_by(PASS).agg(inside=length.sum())
    told = joined.join(counted, on=list(PASS), how="left", nulls_equal=True)
    inside = pl.when("is_ordered").then(pl.col("inside").fill_null(0)).otherwise(0)
    begun = order.group_by("run_id").agg(begun=pl.col("step").min())
    bounded = _bounded(told, order).join(begun, on="run_id", how="left")
    starts_late = pl.col("is_first") & (pl.col("begun") > 1)
    return bounded.select(
        *[*PASS, "last_step", "most", "is_ordered"],
        is_known=pl.col("is_unbroken") & ~starts_late,
        left_out=pl.col("universe") - pl.col("covered") - inside,
    )


def _bounded(passes: pl.DataFrame, order: pl.DataFrame) -> pl.DataFrame:
    """Tell whether no step between the ends of a pass lacks a row."""
    first = order.select(
        "run_id", first_step="step", _first="breaks", _whole="is_whole"
    )
    last = order.select("run_id", last_step="step", _last="breaks")
    joined = passes.join(first, on=["run_id", "first_step"], how="left").join(
        last, on=["run_id", "last_step"], how="left"
    )
    unbroken = (pl.col("_first") == pl.col("_last")) & pl.col("_whole")
    return joined.with_columns(is_unbroken=unbroken.fill_null(value=False))
