"""The steps of a run that were kept, and when it worked on them."""

from typing import Final

import polars as pl

from analysis.attempts import Attempts
from analysis.placing import place
from ingest.tables import StepTimings
from ingest.times import SECOND_NS

#: Steps that follow each other so closely are one span: sensors of power are averaged
#: over a second, and tell nothing of a shorter pause. [ns]
PAUSE_NS: Final = SECOND_NS

_ATTEMPT: Final = ("run_id", "attempt")


def step_windows(steps: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Return when each step was, over all ranks.

    A source that averages over the run speaks only where none tells of ranks.

    Args:
        steps: Rows of StepTimings.
        attempts: Rows of Attempts.

    Returns:
        `run_id`, `attempt`, `step`, `start_ns`, `end_ns`, `tokens` and `is_kept`: a
        step that a later attempt takes again, or began before, was lost.
    """
    placed = place(steps, attempts, StepTimings.start_ns.name)
    end = pl.col("start_ns") + pl.col("duration_ns")
    is_rank = StepTimings.scope.col == "rank"
    tokens = pl.when(is_rank).then("tokens")
    # of traces and logs that tell of one rank and step, the tokens count once
    seats = placed.group_by(*_ATTEMPT, "step", "rank").agg(
        pl.col("start_ns").min(), end_ns=end.max(), tokens=tokens.max()
    )
    windows = seats.group_by(*_ATTEMPT, "step").agg(
        pl.col("start_ns").min(),
        pl.col("end_ns").max(),
        tokens=pl.when(pl.col("tokens").count() > 0).then(
            pl.col("tokens").cast(pl.Int64).sum()
        ),
    )
    firsts = attempts.select(*_ATTEMPT, Attempts.first_step.name).drop_nulls()
    later = firsts.collect().sort(_ATTEMPT)
    lowest = later.with_columns(
        _again=pl.col("first_step")
        .reverse()
        .cum_min()
        .reverse()
        .shift(-1)
        .over("run_id")
    )
    known = windows.join(
        lowest.lazy().select(*_ATTEMPT, "_again"), on=_ATTEMPT, how="left"
    )
    is_kept = (pl.col("step") < pl.col("_again")).fill_null(value=True)
    return known.with_columns(is_kept=is_kept).drop("_again")


def kept_spans(windows: pl.LazyFrame) -> pl.DataFrame:
    """Join kept steps that follow each other into spans.

    Args:
        windows: Rows of `step_windows`.

    Returns:
        `run_id`, `attempt`, `from_ns`, `to_ns`, `steps` and `tokens` (null where no
        step tells), sorted; spans of an attempt share no time.
    """
    kept = windows.filter("is_kept").sort(*_ATTEMPT, "start_ns", "step").collect()
    reached = pl.col("end_ns").cum_max().shift(1).over(_ATTEMPT)
    is_new = (pl.col("start_ns") > reached + PAUSE_NS).fill_null(value=True)
    spans = kept.with_columns(_span=is_new.cum_sum())
    return (
        spans.group_by(*_ATTEMPT, "_span")
        .agg(
            from_ns=pl.col("start_ns").min(),
            to_ns=pl.col("end_ns").max(),
            steps=pl.len().cast(pl.Int64),
            tokens=pl.when(pl.col("tokens").count() == pl.len()).then(
                pl.col("tokens").sum()
            ),
        )
        .filter(pl.col("from_ns") < pl.col("to_ns"))
        .sort(*_ATTEMPT, "from_ns")
        .drop("_span")
    )
