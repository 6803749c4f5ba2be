"""Bubbles of the pipelines of traces, one trace at a time."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis._bubble_phases import CELL, PARTS, STAGE, split_phases
from analysis._bubble_replay import REPLICAS_FROM, TOLD, replay_error, replayed_shares
from analysis._replay import Layouts, replays_of
from analysis._replay_kinds import FORWARD, PASSES
from analysis._replay_layouts import layout_of, placed_by
from analysis._replay_room import sound_steps
from analysis._replay_rows import UnfitTraceError, seat_rows
from analysis._replay_steps import NotReplayable, Replay
from analysis.intervals import END, START

#: Columns of a row of a trace and stage.
ROW: Final = (
    *("run_id", "attempt", "trace_id", "pp_rank", "stages", "chunks", "microbatches"),
    *("steps_count", "rank_steps_count", "step_ns", *PARTS),
    *TOLD,
    *("replay_error_ratio", "reason"),
)

#: What is read of an operation.
_READ: Final = (*STAGE, "rank", "kind", "chunk", START)

_UNSPLIT: Final = (
    f"fewer than {REPLICAS_FROM} replicas, and stages are not alike in them: slow"
    " workers are not told from stages out of balance"
)

#: Types of what a trace may not tell.
_TYPES: Final = {
    "run_id": pl.String,
    "attempt": pl.Int32,
    "trace_id": pl.String,
    "pp_rank": pl.Int32,
    "replay_error_ratio": pl.Float64,
    "reason": pl.String,
    **dict.fromkeys(("step_ns", *PARTS, *TOLD), pl.Int128),
}


def trace_bubbles(
    operations: pl.LazyFrame, attempts: pl.LazyFrame, layouts: Layouts | None = None
) -> Iterator[pl.DataFrame]:
    """Measure the bubble of each trace and stage, in total over steps and replicas.

    A trace that cannot be replayed is measured as it is; what takes a replay is null
    then. One whose stages or replicas are not told has one row that says so.

    Args:
        operations: Rows of Operations.
        attempts: Rows of Attempts.
        layouts: What run cards say of the layout, where they are known.

    Yields:
        Columns of ROW; ns are Int128.
    """
    for found in replays_of(operations, attempts, layouts=layouts):
        if isinstance(found, Replay):
            yield _named(_of_replay(found), found)
        else:
            yield _named(_of_rows(operations, found, layouts), found)


def _named(rows: pl.DataFrame, found: Replay | NotReplayable) -> pl.DataFrame:
    names = {name: getattr(found, name) for name in ("run_id", "attempt", "trace_id")}
    known = rows.with_columns(**{key: pl.lit(value) for key, value in names.items()})
    blank = [pl.lit(None).alias(name) for name in ROW if name not in known.columns]
    typed = [pl.col(name).cast(_TYPES.get(name, pl.Int64)) for name in ROW]
    return known.with_columns(blank).select(typed)


def _of_replay(replay: Replay) -> pl.DataFrame:
    measured = _measured(replay.operations, pl.col("sequence"))
    shares = replayed_shares(replay)
    shared = measured.join(shares, on="pp_rank", how="left")
    limits = [*replay.doubts.without_replicas(), *replay.doubts.notes()]
    if replay.doubts.stages:
        limits.append("without the last stage nothing tells what adds to the bubble")
        shared = shared.with_columns(pl.lit(None).alias(name) for name in TOLD)
    elif shares["imbalance_ns"].null_count():
        limits.append(_UNSPLIT)
    return shared.with_columns(
        replay_error_ratio=pl.lit(replay_error(replay)),
        reason=pl.lit("; ".join(limits) or None, pl.String),
    )


def _of_rows(
    operations: pl.LazyFrame, found: NotReplayable, layouts: Layouts | None
) -> pl.DataFrame:
    """Measure a trace without a replay, where its rows tell their place."""
    try:
        held = found.trace.rows(operations).collect()
        layout = layout_of(layouts, found.run_id, found.attempt)
        rows, _ = sound_steps(seat_rows(placed_by(layout, held)))
    except UnfitTraceError as unfit:
        return pl.DataFrame({"reason": [str(unfit)], "steps_count": [found.steps]})
    measured = _measured(rows.rename({"at_ns": START}), pl.col("position"))
    return measured.with_columns(reason=pl.lit(f"not replayed: {found.reason}"))


def _measured(rows: pl.DataFrame, order: pl.Expr) -> pl.DataFrame:
    """Return the bubble of each stage, and the layout that its passes show."""
    end = (pl.col(START) + pl.col("duration_ns")).alias(END)
    timed = rows.select(*_READ, end, order=order)
    lengths = timed.group_by("step").agg(
        step_ns=pl.col(END).max() - pl.col(START).min()
    )
    passes = timed.filter(pl.col("kind").is_in(PASSES))
    cells = split_phases(passes).join(lengths, on="step")
    stages = cells.group_by("pp_rank").agg(
        pl.col("step_ns", *PARTS).cast(pl.Int128).sum(),
        steps_count=pl.col("step").n_unique(),
        rank_steps_count=pl.len(),
    )
    return stages.join(_layout(passes), how="cross").sort("pp_rank")


def _layout(passes: pl.DataFrame) -> pl.DataFrame:
    """Return stages, chunks and micro-batches; null where replicas or steps differ."""
    forward = passes.filter(pl.col("kind") == FORWARD)
    each = forward.group_by(*CELL, "pp_rank").agg(
        chunks=pl.col("chunk").fill_null(0).n_unique(), passes=pl.col("order").count()
    )
    same = [
        pl.when(pl.col(name).n_unique() == 1).then(pl.col(name).first()).alias(name)
        for name in ("chunks", "passes")
    ]
    counted = each.select(*same, stages=pl.col("pp_rank").n_unique())
    is_whole = pl.col("passes") % pl.col("chunks") == 0
    batches = pl.when(is_whole).then(pl.col("passes") // pl.col("chunks"))
    return counted.select("stages", "chunks", microbatches=batches)
