"""Replays of traces, one at a time: the door to what-if questions."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl

from analysis._replay_cells import Cells, cells_of
from analysis._replay_doubts import Doubts, contradicts_batches
from analysis._replay_graph import Graph, graph_of
from analysis._replay_layouts import Layout, Layouts, layout_of, placed_by
from analysis._replay_lengths import ideal_lengths, own_lengths
from analysis._replay_room import sound_steps
from analysis._replay_rows import UnfitTraceError, seat_rows
from analysis._replay_steps import NotReplayable, Replay
from analysis._replay_traces import TRACE, Trace, traces_in

#: Operations of a trace that are held at once; each takes some 400 bytes at the peak,
#: 2 GB together. One step of 2,048 ranks in 16 stages is 400,000. [1]
MOST_OPERATIONS: Final = 5_000_000

#: Columns of operations that a replay reads.
_READ: Final = (
    *("step", "rank", "dp_rank", "pp_rank", "kind", "microbatch", "chunk", "sequence"),
    *("start_ns", "offset_ns", "duration_ns"),
)


def replays_of(
    operations: pl.LazyFrame,
    attempts: pl.LazyFrame,
    most: int = MOST_OPERATIONS,
    layouts: Layouts | None = None,
) -> Iterator[Replay | NotReplayable]:
    """Return a replay of every trace, or why there is none, one trace at a time.

    Args:
        operations: Rows of Operations.
        attempts: Rows of Attempts, for traces that do not tell theirs.
        most: Operations of a trace to hold at once; of a trace with more, some steps
            are replayed that are evenly spread over it. [1]
        layouts: What run cards say of the layout, where they are known.
    """
    for trace in traces_in(operations, attempts):
        chosen = trace.spread(most)
        rows = trace.rows(operations)
        if len(chosen) < len(trace.steps):
            rows = rows.filter(pl.col("step").is_in(chosen))
        held = rows.select(_READ).collect(engine="streaming")
        try:
            layout = layout_of(layouts, trace.run_id, trace.attempt)
            seated = seat_rows(placed_by(layout, held))
            sound, outlasting = sound_steps(seated)
            cells = cells_of(sound)
            passed_over = len(trace.steps) - len(chosen)
            replay = _replay(cells, trace, passed_over, held.height)
            yield _doubted(replay, layout, outlasting)
        except UnfitTraceError as unfit:
            yield NotReplayable(trace, str(unfit))


def _replay(cells: Cells, trace: Trace, passed_over: int, operations: int) -> Replay:
    first = cells.rows.filter(pl.col("cell") == 0)
    graph = graph_of(_nodes(first))
    shape = (first.height, len(cells.steps), cells.replicas, cells.lanes)
    return Replay(
        trace=trace,
        operations=_operations(cells, graph, shape),
        graph=graph,
        shape=shape,
        steps=tuple(cells.steps),
        steps_passed_over=passed_over,
        steps_left_out=cells.steps_left_out,
        replicas_left_out=cells.replicas_left_out,
        operations_left_out=operations - cells.rows.height,
    )


def _doubted(replay: Replay, layout: Layout, outlasting: tuple[int, ...]) -> Replay:
    """Return a replay with what is missing in its trace."""
    stages = int(replay.operations["pp_rank"].max()) + 1  # type: ignore[arg-type]
    replicas = replay.shape[2]
    known = replicas + replay.replicas_left_out
    doubts = Doubts(
        steps_outlasting=outlasting,
        replicas=max(known, layout.replicas or 0) - replicas,
        stages=max(stages, layout.stages or 0) - stages,
        stages_seen=stages,
        replicas_seen=replicas,
        has_other_batches=contradicts_batches(replay.operations, replay.shape[0]),
    )
    left_out = replay.steps_left_out + len(outlasting)
    return replace(replay, doubts=doubts, steps_left_out=left_out)


def _nodes(first: pl.DataFrame) -> pl.DataFrame:
    return first.select(
        "node",
        "position",
        pp_rank=pl.col("pp_rank").cast(pl.Int64),
        kind=pl.col("kind").cast(pl.String),
        microbatch=pl.col("microbatch").cast(pl.Int64),
        chunk=pl.col("chunk").cast(pl.Int64).fill_null(0),
        start_ns="at_ns",
        end_ns=pl.col("at_ns") + pl.col("duration_ns"),
    )


def _operations(
    cells: Cells, graph: Graph, shape: tuple[int, int, int, int]
) -> pl.DataFrame:
    rows = cells.rows
    start = pl.col("at_ns") - pl.col("at_ns").min().over("step")
    told = rows.select(
        *("step", "rank", "dp_rank", "pp_rank", "lane", "kind", "raw_kind"),
        *("microbatch", "chunk", "node"),
        *("duration_ns",),
        sequence="position",
        start_ns=start,
    )
    own = own_lengths(graph, told, shape)
    ideal = ideal_lengths(told["kind"], own)
    if ideal.max() <= 0:
        reason = "operations take no time"
        raise UnfitTraceError(reason)
    cells_each = shape[1] * shape[2] * shape[3]
    return told.with_columns(
        is_transfer=pl.lit(np.repeat(graph.is_transfer, cells_each)),
        group=pl.lit(np.repeat(graph.group, cells_each)),
        own_ns=pl.lit(own),
        ideal_ns=pl.lit(ideal),
    ).with_row_index("row")


__all__ = ["TRACE", "Layouts", "NotReplayable", "Replay", "replays_of"]
