"""Step logs with what rollups tell beside the mean of each step."""

from collections.abc import Mapping
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._step_rollup_columns import PARTS
from analysis._step_rollup_means import STAND_IN, mean_rows, whole_steps
from analysis.step_rollups import StepRollups
from ingest.tables import StepTimings
from ingest.times import HOUR_NS

#: How many ranks told of a step, and how many of them of any part of it; of a mean over
#: the run that is not known. [1]
RANKS: Final = ("row_ranks", "part_ranks")

_BOUNDS: Final = (pl.col("start_ns").min(), pl.col("end_ns").max())

_SEAT: Final = ("run_id", "attempt", "rank")


def ranked_steps(frames: Frames) -> pl.LazyFrame:
    """Return step timings, and how many ranks a row stands for.

    Args:
        frames: Step timings and step rollups.

    Returns:
        Rows of StepTimings; where there are rollups, `ranks`, RANKS and `last_end_ns`,
        the latest end of a rank [ns], too, all null in rows that are of their own.
        Ranks are 0 in a step that less than half of those beside it told: a slip. Parts
        are means over the ranks that told any, durations over all.
    """
    whole = whole_steps(frames[StepRollups])
    steps = frames[StepTimings]
    if whole.is_empty():
        return steps
    alone = steps.filter(StepTimings.file_id.col != STAND_IN)
    is_ranked = pl.when(pl.col("scope") == "rank")
    tellers = pl.max_horizontal(f"{part.removesuffix('_ns')}_ranks" for part in PARTS)
    told = whole.with_columns(
        last_end_ns=pl.col("end_ns"),
        row_ranks=is_ranked.then("ranks"),
        part_ranks=is_ranked.then(tellers).otherwise(1),
    )
    more = ("ranks", *RANKS, "last_end_ns")
    stand_in = mean_rows(told, more, "part_ranks").with_columns(_no_slips())
    own = steps.collect_schema().names()
    return pl.concat(
        [alone.select(own), stand_in.select(*own, *more).lazy()], how="diagonal"
    )


def _no_slips() -> pl.Expr:
    ranks = pl.col("ranks")
    before = ranks.shift(1).over("run_id", order_by="start_ns")
    after = ranks.shift(-1).over("run_id", order_by="start_ns")
    near = pl.min_horizontal(before, after)
    return pl.when(ranks * 2 < near).then(0).otherwise(ranks).alias("ranks")


def longest_steps(frames: Frames) -> pl.LazyFrame:
    """Return step timings in which a step is as long as its slowest rank.

    Rows that stand for those of all ranks are given as rows of one, of no number, with
    the greatest duration and parts of any; what a rank computes or communicates at the
    longest is not known.

    Args:
        frames: Step timings and step rollups.
    """
    names = ("duration", "wait", "data", "checkpoint")
    greatest = {f"{part}_ns": pl.col(f"{part}_ns_max") for part in names}
    return _as_of_one(frames, greatest)


def spanned_steps(frames: Frames) -> pl.LazyFrame:
    """Return step timings in which a step lasts until its last rank has left it.

    Rows that stand for those of all ranks are given as rows of one, of no number, with
    the tokens of all and no parts.

    Args:
        frames: Step timings and step rollups.
    """
    span = pl.col("end_ns") - pl.col("start_ns")
    each = span // pl.col("step_count").clip(1)
    parts = ("wait_ns", "data_ns", "checkpoint_ns")
    nothing = {part: pl.lit(None, pl.Int64) for part in parts}
    return _as_of_one(frames, {"duration_ns": each, **nothing})


def _as_of_one(frames: Frames, columns: Mapping[str, pl.Expr]) -> pl.LazyFrame:
    whole = whole_steps(frames[StepRollups])
    steps = frames[StepTimings]
    if whole.is_empty():
        return steps
    unknown = pl.lit(None, pl.Int64)
    told = whole.with_columns(
        file_id=pl.lit(STAND_IN),
        rank=pl.lit(None, pl.Int32),
        compute_ns=unknown,
        communication_ns=unknown,
        **columns,
    )
    own = steps.collect_schema().names()
    alone = steps.filter(StepTimings.file_id.col != STAND_IN)
    return pl.concat([alone.select(own), told.select(own).lazy()])


def seats_of_hours(hours: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Return the ranks that hours tell of, each with its attempt.

    Args:
        hours: Rows of RankHours. Of those that name no attempt that is known, all
            attempts count in which they lie: an hour may have several.
        attempts: Windows of attempts: run_id, attempt and start_ns. [ns]

    Returns:
        Columns run_id, attempt, rank, start_ns and end_ns. [ns]
    """
    known = attempts.select("run_id", "attempt", is_known=pl.lit(value=True))
    told = hours.select(*_SEAT, "hour_ns", "start_ns", "end_ns").join(
        known, on=["run_id", "attempt"], how="left"
    )
    direct = told.filter(pl.col("is_known")).group_by(_SEAT).agg(_BOUNDS)
    others = told.filter(pl.col("is_known").is_null()).drop("attempt", "is_known")
    spans = _spans(attempts)
    near = others.select("run_id", "hour_ns").unique().join(spans, on="run_id")
    is_near = pl.col("until_ns").is_null() | (pl.col("until_ns") > pl.col("hour_ns"))
    until = pl.col("from_ns") < pl.col("hour_ns") + 2 * HOUR_NS
    placed = others.join(near.filter(is_near & until), on=["run_id", "hour_ns"])
    start, end = pl.col("start_ns"), pl.col("end_ns")
    is_open = pl.col("until_ns").is_null()
    inside = (end > pl.col("from_ns")) & (is_open | (start < pl.col("until_ns")))
    cut = placed.filter(inside).with_columns(
        start_ns=pl.max_horizontal("start_ns", "from_ns"),
        end_ns=pl.min_horizontal("end_ns", "until_ns"),
    )
    both = (direct, cut.group_by(_SEAT).agg(_BOUNDS))
    return pl.concat([one.select(*_SEAT, "start_ns", "end_ns") for one in both])


def _spans(attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Return from when until when a time means an attempt, as placing has it."""
    ordered = attempts.select("run_id", "attempt", from_ns="start_ns").sort(
        "run_id", "from_ns", "attempt"
    )
    first = pl.int_range(pl.len()).over("run_id") == 0
    beginning = pl.lit(-(1 << 62), pl.Int64)
    return ordered.with_columns(
        until_ns=pl.col("from_ns").shift(-1).over("run_id"),
        from_ns=pl.when(first).then(beginning).otherwise("from_ns"),
    )
