"""Traces of a run, with their seats, ready to be repaired."""

from collections.abc import Callable, Iterator
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._replay import Layouts, replays_of
from analysis._replay_steps import NotReplayable, Replay
from analysis._straggler_seats import seats_of
from analysis._whatif_answers import Traced
from analysis._whatif_clocks import slow_clocks
from analysis._whatif_fix import Trace
from analysis._whatif_questions import Question
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.runs import Runs
from ingest.tables import Operations, PowerSamples

#: What a place is known by, beside what a trace tells itself.
_PLACED: Final = ("host", "rack", "gpu_uuid")

#: Returns what is asked of a trace.
Asking = Callable[[Replay], Question]


def traced_runs(frames: Frames) -> list[str]:
    """Return the runs whose operations were traced, in order."""
    runs = frames[Operations].select("run_id").unique().collect(engine="streaming")
    return runs["run_id"].sort().to_list()


def traces_of(
    frames: Frames, run_id: str, asking: Asking
) -> Iterator[Traced | NotReplayable]:
    """Yield the traces of a run with what is asked of each, one at a time.

    A step holds up all GPUs of the run, where these are known: a trace may have one
    rank of each group of ranks that do the same.

    Args:
        frames: Operations, attempts, seats, runs and power telemetry.
        run_id: The run.
        asking: Returns what is asked of a trace.
    """
    of_run = pl.col("run_id") == run_id
    gpus = frames[Gpus].filter(of_run)
    seats = seats_of(gpus)
    count = frames[Runs].filter(of_run).select(pl.col("gpu_count").max()).collect()

    def clocks() -> pl.DataFrame | str:
        spans = gpus.filter(Gpus.rank.col.is_not_null()).collect()
        return slow_clocks(spans, seats, frames[PowerSamples])

    operations = frames[Operations].filter(of_run)
    attempts = frames[Attempts].filter(of_run)
    layouts = Layouts(frames[Runs].filter(of_run), gpus)
    for replay in replays_of(operations, attempts, layouts=layouts):
        if isinstance(replay, NotReplayable):
            yield replay
            continue
        seen = _seen(replay, seats)
        held = max(count.item() or 0, seen.height)
        yield Traced(Trace(replay, seen, clocks), asking(replay), held)


def _seen(replay: Replay, seats: pl.DataFrame) -> pl.DataFrame:
    """Return the seats of a trace's ranks; stage and replica are the trace's own."""
    ranks = replay.operations.select("rank", "pp_rank", "dp_rank").unique()
    places = seats.filter(pl.col("attempt") == replay.attempt).select("rank", *_PLACED)
    seen = ranks.join(places, on="rank", how="left").sort("rank")
    return seen.with_columns(attempt=pl.lit(replay.attempt, pl.Int32))
