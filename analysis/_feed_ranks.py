"""Who read what is at fault: ranks, in words as short as ranges."""

from typing import Final

import polars as pl

from analysis._feed_cover import PASS
from analysis._feed_rows import STEP, Reads
from ingest.phrases import phrase

#: Column that numbers faults.
FAULT_ID: Final = "fault"

_WHO: Final = (FAULT_ID, "is_other", "rank", "replica")


def with_readers(faults: pl.DataFrame, reads: Reads) -> pl.DataFrame:
    """Add who read the samples of each fault.

    Args:
        faults: Columns of FAULT, numbered.
        reads: The reads, of which the steps at fault are gone through again.

    Returns:
        The faults with ranks and dp_ranks of their step, and other_ranks, those of the
        step before that it is told against; null where nobody is told. Where a range
        is left out, they are those who read up to it and from it on.
    """
    at = faults.select(*[*PASS, "kind", "first", "after"], FAULT_ID, "step", "attempt")
    other = faults.select(
        *[*PASS, "kind", "first", "after"],
        FAULT_ID,
        step="other_step",
        attempt="other_attempt",
    )
    asked = pl.concat(
        [
            at.with_columns(is_other=pl.lit(value=False)),
            other.with_columns(is_other=pl.lit(value=True)),
        ]
    ).drop_nulls(["step", "attempt"])
    found = [_read(rows, asked) for rows in reads.of_steps(asked)]
    return _joined(faults, pl.concat(found))


def _read(rows: pl.DataFrame, asked: pl.DataFrame) -> pl.DataFrame:
    by = [*PASS, "step", "attempt"]
    ranged = rows.filter(pl.col("first").is_not_null()).select(
        *by, "rank", "replica", _from="first", _to="after"
    )
    pairs = asked.drop_nulls("first").join(ranged, on=by, nulls_equal=True)
    is_hole = pl.col("kind").is_in(["left_out", "restart_skips"])
    meets = (pl.col("_from") < pl.col("after")) & (pl.col("_to") > pl.col("first"))
    touches = (pl.col("_from") == pl.col("after")) | (pl.col("_to") == pl.col("first"))
    near = pairs.filter(pl.when(is_hole).then(touches).otherwise(meets))
    skipped = pl.col("first").is_null() & (pl.col("kind") == "restart_skips")
    every = asked.filter(skipped).join(
        rows.select(*STEP, "rank", "replica").unique(), on=list(STEP)
    )
    return pl.concat([near.select(_WHO), every.select(_WHO)])


def _joined(faults: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    here, there = found.filter(~pl.col("is_other")), found.filter("is_other")
    told = [
        in_words(here, "rank").rename({"words": "ranks"}),
        in_words(here, "replica").rename({"words": "dp_ranks"}),
        in_words(there, "rank").rename({"words": "other_ranks"}),
    ]
    for words in told:
        faults = faults.join(words, on=FAULT_ID, how="left")
    return faults


def in_words(found: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return numbers as ranges: "0-3, 8".

    Args:
        found: Columns fault and the numbers.
        column: Name of the numbers.

    Returns:
        Columns fault and words.
    """
    ordered = found.select(FAULT_ID, n=column).drop_nulls().unique().sort(FAULT_ID, "n")
    apart = pl.col("n") - pl.int_range(pl.len()).over(FAULT_ID)
    runs = ordered.group_by(FAULT_ID, block=apart).agg(
        low=pl.col("n").min(), high=pl.col("n").max()
    )
    low, high = pl.col("low").cast(pl.String), pl.col("high").cast(pl.String)
    text = pl.when(low == high).then(low).otherwise(phrase("{}-{}", low, high))
    return (
        runs.sort(FAULT_ID, "low")
        .with_columns(text=text)
        .group_by(FAULT_ID)
        .agg(words=pl.col("text").str.join(", "))
    )
