"""A feed gone through once: what its steps read, and all that is wrong with it."""

from typing import NamedTuple

import polars as pl

from analysis._feed_balance import sums
from analysis._feed_cover import PASS, holes, merged, rereads, swept
from analysis._feed_faults import (
    FAULT,
    again,
    again_in_steps,
    left_at_the_end,
    left_out,
)
from analysis._feed_groups import REPLICA, given
from analysis._feed_hashes import MORE, hashes_again
from analysis._feed_passes import ended, passes_of
from analysis._feed_positions import off_position
from analysis._feed_restarts import named, signatures, skipped
from analysis._feed_rows import STEP, Reads
from analysis._feed_steps import facts_of, kept_order, with_kept, with_lacking

_SPAN = (*STEP, "dataset", "epoch")


class Gone(NamedTuple):
    """What going through a feed leaves.

    Attributes:
        facts: What each step was given.
        spans: Samples of each step, those that touch as one: STEP, dataset, epoch,
            first, after.
        twice: Samples that came twice in one step, of the same columns.
        disputed: Replicas whose ranks disagree.
        hashed: Batches that are known by their hash alone.
        sums: What tells whether squared lengths and work go together.
    """

    facts: pl.DataFrame
    spans: pl.DataFrame
    twice: pl.DataFrame
    disputed: pl.DataFrame
    hashed: pl.DataFrame
    sums: pl.DataFrame


class Found(NamedTuple):
    """What is wrong with a feed, and what cannot be told of it.

    Attributes:
        facts: What each step was given, whether it was kept, and who lacks rows.
        faults: Columns of FAULT and MORE, dp_ranks, replicas, is_settled.
        passes: What is known of each pass.
        unjudged: Samples in no read that are not judged: run_id, samples.
        filling: Samples that fill up last batches: run_id, samples.
        ended: Passes that are over.
    """

    facts: pl.DataFrame
    faults: pl.DataFrame
    passes: pl.DataFrame
    unjudged: pl.DataFrame
    filling: pl.DataFrame
    ended: pl.DataFrame


def go_through(reads: Reads, log: pl.LazyFrame) -> Gone:
    """Go through a feed, portion by portion.

    Args:
        reads: The reads.
        log: What `rank_log` returns.
    """
    parts = [_portion(rows, log) for rows in reads]
    return Gone(*(pl.concat(frames) for frames in zip(*parts, strict=True)))


def _portion(rows: pl.DataFrame, log: pl.LazyFrame) -> Gone:
    told = given(rows)
    ranged = told.batches.filter(pl.col("first").is_not_null())
    hashed = told.rows.filter(
        pl.col("first").is_null() & pl.col("batch_hash").is_not_null()
    )
    return Gone(
        facts=facts_of(rows, told),
        spans=merged(ranged, _SPAN),
        twice=again_in_steps(told.batches),
        disputed=told.disputed,
        hashed=hashed.select(*_SPAN, "replica", "rank", "batch_hash"),
        sums=sums(rows, told.batches, log),
    )


def judge(
    gone: Gone, attempts: pl.DataFrame, runs: pl.DataFrame, checkpoints: pl.DataFrame
) -> Found:
    """Judge what the kept steps of a feed read.

    Args:
        gone: What `go_through` returns.
        attempts: Rows of Attempts.
        runs: Rows of Runs.
        checkpoints: Saves, with their step and where the feed stood.
    """
    facts = with_lacking(with_kept(gone.facts, attempts), runs)
    kept = facts.filter("is_kept")
    order = kept_order(facts)
    spans = _of(gone.spans, kept)
    walked = swept(spans, PASS, ("step", "attempt"))
    free = holes(walked)
    passes = passes_of(spans, free, kept)
    over = ended(passes, spans, free, order)
    crossed = rereads(walked, PASS, "step")
    twice, filling = again(crossed, _of(gone.twice, kept), passes, kept)
    out, unjudged = left_out(free, passes, order)
    hashes = hashes_again(_of(gone.hashed, kept), kept)
    found = named(pl.concat([twice, out, hashes.select(FAULT)]), facts)
    late = skipped(facts, signatures(gone.spans, gone.hashed), found)
    known = pl.concat([found, late])
    off = off_position(checkpoints, spans, passes, facts)
    untold = off.join(known, on=list(STEP), how="anti")
    all_found = pl.concat([known, untold, left_at_the_end(over, order)])
    by = [*STEP, "dataset", "epoch"]
    extra = hashes.select(*by, *MORE)
    told = all_found.join(extra, on=by, how="left", nulls_equal=True)
    at_odds = _of(gone.disputed, kept)
    faults = pl.concat([told, _odds(at_odds)], how="diagonal")
    return Found(facts, faults, passes, unjudged, filling, over)


def _of(rows: pl.DataFrame, kept: pl.DataFrame) -> pl.DataFrame:
    return rows.join(kept.select(STEP), on=list(STEP), how="semi")


def _odds(disputed: pl.DataFrame) -> pl.DataFrame:
    """Return replicas whose ranks disagree as faults, one for each step."""
    grouped = (
        disputed.sort(REPLICA)
        .group_by(STEP)
        .agg(
            pl.col("ranks").explode().unique().sort(),
            dp_ranks=pl.col("replica").unique().sort(),
            replicas=pl.col("replica").n_unique().cast(pl.Int64),
            is_settled=pl.col("is_settled").all(),
        )
    )
    return grouped.with_columns(kind=pl.lit("ranks_disagree"))
