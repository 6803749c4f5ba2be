"""Where checkpoints say that the feed stood, against where attempts went on."""

from typing import Final

import polars as pl

from analysis._feed_cover import PASS
from analysis._feed_faults import FAULT

_RUN: Final = "run_id"


def off_position(
    checkpoints: pl.DataFrame,
    spans: pl.DataFrame,
    passes: pl.DataFrame,
    facts: pl.DataFrame,
) -> pl.DataFrame:
    """Return restarts that went on elsewhere than their checkpoint: columns of FAULT.

    What a position counts, sources do not say: it is believed where the feed is one
    pass in order, and some checkpoint of the run stands exactly at the end of what its
    step had read. Then an attempt goes on where the last checkpoint of the step before
    stood. Where all rows of that step are there, what it read says more, and positions
    are not asked.

    Args:
        checkpoints: Saves with their step and data_position.
        spans: Kept samples of each step: PASS, attempt, step, first, after.
        passes: What `passes_of` returns.
        facts: Steps with is_whole and resumed.
    """
    alone = pl.len().over(_RUN) == 1
    single = passes.filter(alone & pl.col("is_ordered")).select(PASS)
    read = spans.join(single, on=list(PASS), how="semi", nulls_equal=True)
    ends = read.group_by(*PASS, "attempt", "step").agg(
        pl.col("first").min(), pl.col("after").max()
    )
    saved = (
        checkpoints.drop_nulls(["step", "data_position"])
        .sort(_RUN, "start_ns", "data_position")
        .unique([_RUN, "step"], keep="last", maintain_order=True)
        .select(_RUN, "step", position="data_position")
    )
    proved = saved.join(ends, on=[_RUN, "step"]).filter(
        pl.col("position") == pl.col("after")
    )
    begun = ends.join(_unseen(facts), on=[_RUN, "attempt", "step"])
    before = saved.with_columns(step=pl.col("step") + 1)
    met = begun.join(before, on=[_RUN, "step"]).join(
        proved.select(_RUN).unique(), on=_RUN, how="semi"
    )
    return _as_faults(met.filter(pl.col("first") != pl.col("position")))


def _unseen(facts: pl.DataFrame) -> pl.DataFrame:
    """Return the first steps of attempts that no whole step comes before."""
    known = facts.filter(pl.col("is_whole") & pl.col("is_kept"))
    resumed = known.filter(pl.col("step") == pl.col("resumed"))
    read_before = known.select(_RUN, pl.col("step") + 1)
    alone = resumed.join(read_before, on=[_RUN, "step"], how="anti")
    return alone.select(_RUN, "attempt", "step")


def _as_faults(off: pl.DataFrame) -> pl.DataFrame:
    skips = pl.col("first") > pl.col("position")
    first = pl.min_horizontal("first", "position")
    after = pl.max_horizontal("first", "position")
    return off.select(
        *[*PASS, "attempt", "step"],
        first=first,
        after=after,
        samples=after - first,
        kind=pl.when(skips)
        .then(pl.lit("restart_skips"))
        .otherwise(pl.lit("restart_repeats")),
        other_attempt=pl.lit(None, pl.Int32),
        other_step=pl.col("step") - 1,
    ).select(FAULT)
