"""Traces of a run, with their seats, ready to be repaired."""

from collections.abc import Callable, Iterator

import polars as pl

from analysis._replay import replays_of
from analysis._replay_steps import NotReplayable, Replay
from analysis._whatif_answers import Traced
from analysis._whatif_fix import Trace
from analysis._whatif_questions import Question

#: What a place is known by, beside what a trace tells itself.
_PLACED = ("host", "rack", "gpu_uuid")

#: Returns what is asked of a trace.
Asking = Callable[[Replay], Question]


def traces_of(
    operations: pl.LazyFrame,
    attempts: pl.LazyFrame,
    seats: pl.DataFrame,
    asking: Asking,
    gpus: int | None,
) -> Iterator[Traced | NotReplayable]:
    """Yield the traces of a run with what is asked of each, one at a time.

    Args:
        operations: Its rows of Operations.
        attempts: Rows of Attempts.
        seats: Its seats.
        asking: Returns what is asked of a trace.
        gpus: GPUs of the run, where they are known: a trace may hold one rank of
            each group of ranks that do the same.
    """
    for replay in replays_of(operations, attempts):
        if isinstance(replay, NotReplayable):
            yield replay
            continue
        seen = _seen(replay, seats)
        held = max(gpus or 0, seen.height)
        yield Traced(Trace(replay, seen), asking(replay), held)


def _seen(replay: Replay, seats: pl.DataFrame) -> pl.DataFrame:
    """Return the seats of a trace's ranks; stage and replica are the trace's own."""
    ranks = replay.operations.select("rank", "pp_rank", "dp_rank").unique()
    places = seats.filter(pl.col("attempt") == replay.attempt).select("rank", *_PLACED)
    seen = ranks.join(places, on="rank", how="left").sort("rank")
    return seen.with_columns(attempt=pl.lit(replay.attempt, pl.Int32))
