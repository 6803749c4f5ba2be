"""What is known of each feed as a whole, and what cannot be told of it."""

from typing import Final

import polars as pl

from analysis._feed_cover import PASS
from analysis._feed_found import Found, Gone
from ingest.phrases import phrase

#: Of a run without a feed.
NOT_TOLD: Final = "no file tells what the loader gave to the ranks (data_reads)"

_RUN: Final = "run_id"


def blind_spots(
    found: Found, gone: Gone, runs: pl.DataFrame, lost: pl.DataFrame
) -> pl.DataFrame:
    """Return what cannot be told of each feed, and why: run_id and blind_spots.

    Args:
        found: What `judge` returns.
        gone: What `go_through` returns.
        runs: Rows of Runs.
        lost: Rows that no attempt can be told of: run_id, unplaced.
    """
    parts = [
        _of_steps(found.facts, runs),
        _of_passes(found),
        _of_ends(found.ended),
        _of_holes(found.unjudged),
        _of_filling(found.filling),
        _of_hashes(gone.hashed),
        _of_rows(lost),
    ]
    said = pl.concat([part.select(_RUN, "said") for part in parts])
    told = said.drop_nulls().unique().sort(_RUN, "said")
    return told.group_by(_RUN).agg(blind_spots=pl.col("said").str.join("; "))


def _of_steps(facts: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    kept = facts.filter("is_kept").sort(_RUN, "step")
    step = pl.col("step").cast(pl.Int128)
    jump = step - step.shift(1).over(_RUN) - 1
    wide = pl.col("ranks_seen") <= pl.col("replicas_seen")
    steps = (
        kept.with_columns(_jump=jump)
        .group_by(_RUN)
        .agg(
            lacking=(pl.col("lacking") > 0).sum(),
            most=pl.col("lacking").max(),
            gaps=pl.col("_jump").sum(),
            open=(pl.col("disputed_count") > 0).sum(),
            by_replica=pl.col("by_replica").first(),
            one_rank=wide.all(),
        )
    )
    tp, cp, pp = (pl.col(axis).fill_null(1) for axis in ("tp", "cp", "pp"))
    size = runs.select(_RUN, shares=tp * cp * pp)
    return _told(steps.join(size, on=_RUN, how="left"), *_steps_said())


def _steps_said() -> list[pl.Expr]:
    who = pl.when("by_replica").then(pl.lit("replicas")).otherwise(pl.lit("ranks"))
    lacking, most = _text("lacking"), _text("most")
    missing = "rows are missing in {} of the steps, of up to {} {} at once"
    gaps = "steps without any row between the first and the last: {}"
    at_odds = (
        "in {} of the steps ranks are at odds and nothing tells who is right: samples"
        " of their replica are not counted"
    )
    unplaced = (
        "neither a layout nor dp_rank tells which ranks share a batch: equal batches of"
        " a step count as one"
    )
    alone = (
        "one rank of each replica tells its batch: whether the others had the same is"
        " not known"
    )
    shared = (pl.col("by_replica"), pl.col("one_rank"), pl.col("shares") > 1)
    return [
        pl.when(pl.col("lacking") > 0).then(phrase(missing, lacking, most, who)),
        pl.when(pl.col("gaps") > 0).then(phrase(gaps, _text("gaps"))),
        pl.when(pl.col("open") > 0).then(phrase(at_odds, _text("open"))),
        pl.when(~pl.col("by_replica")).then(pl.lit(unplaced)),
        pl.when(*shared).then(pl.lit(alone)),
    ]


def _of_passes(found: Found) -> pl.DataFrame:
    over = found.ended.select(PASS).with_columns(_over=pl.lit(value=True))
    joined = found.passes.join(over, on=list(PASS), how="left", nulls_equal=True)
    any_order = ~pl.col("is_ordered")
    passes = joined.group_by(_RUN).agg(
        unnamed=(any_order & pl.col("epoch").is_null()).any(),
        open=(any_order & pl.col("_over").is_null()).any(),
        sparse=(pl.col("is_ordered") & ~pl.col("is_dense")).any(),
    )
    return _told(
        passes,
        pl.when("unnamed").then(
            pl.lit(
                "samples come in any order and no epoch is told: one that comes again"
                " may be of a new pass"
            )
        ),
        pl.when("open").then(
            pl.lit(
                "samples come in any order: what a pass leaves out shows only when the"
                " next has begun"
            )
        ),
        pl.when("sparse").then(
            pl.lit(
                "sample numbers leave gaps everywhere: the data are filtered, or"
                " sample_to is the last sample of the batch"
            )
        ),
    )


def _of_ends(ended: pl.DataFrame) -> pl.DataFrame:
    few = (pl.col("left_out") > 0) & (pl.col("left_out") <= pl.col("most"))
    passes = ended.group_by(_RUN).agg(
        few=pl.col("left_out").filter(few & pl.col("is_known")).sum(),
        unknown=(~pl.col("is_known")).sum(),
    )
    return _told(
        passes,
        pl.when(pl.col("few") > 0).then(
            phrase(
                "samples at the ends of passes that came in no step: {}, no more than a"
                " step, as samplers drop on purpose",
                _text("few"),
            )
        ),
        pl.when(pl.col("unknown") > 0).then(
            phrase(
                "passes that are not known whole, so that what they left out is not"
                " told: {}",
                _text("unknown"),
            )
        ),
    )


def _of_holes(unjudged: pl.DataFrame) -> pl.DataFrame:
    return _told(
        unjudged,
        phrase(
            "samples in no row, where rows are missing or numbers leave gaps: {}",
            _text("samples"),
        ),
    )


def _of_filling(filling: pl.DataFrame) -> pl.DataFrame:
    return _told(
        filling,
        phrase(
            "samples that came again in the last step of a pass: {}, fewer than there"
            " are replicas, or than a step has where they are those of the first, as"
            " samplers fill up",
            _text("samples"),
        ),
    )


def _of_hashes(hashed: pl.DataFrame) -> pl.DataFrame:
    return _told(
        hashed.select(_RUN).unique(),
        pl.lit(
            "batches are known by their hash alone: which samples are left out no"
            " hash tells"
        ),
    )


def _of_rows(lost: pl.DataFrame) -> pl.DataFrame:
    return _told(
        lost,
        phrase(
            "rows that tell neither attempt nor time, of a run with several attempts:"
            " {}",
            _text("unplaced"),
        ),
    )


def _told(rows: pl.DataFrame, *said: pl.Expr) -> pl.DataFrame:
    texts = pl.concat_list(said)
    return rows.select(_RUN, said=texts).explode("said")


def _text(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.String)
