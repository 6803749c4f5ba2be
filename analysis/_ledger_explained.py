"""What the schedule of a pipeline explains of waits, by a replay as all usually is."""

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis._bubble_replay import lengths_alone, usual_lengths
from analysis._ledger_waiting import RANK_STEP, spent
from analysis._replay_steps import Replay
from analysis.intervals import END, START


def explained(replay: Replay) -> pl.DataFrame:
    """Return how long each rank waits for other stages where all is as usual. [ns]

    Every operation takes the median of its peers then. Where that is the same in all
    replicas, one of them tells of all.

    Args:
        replay: Replay of the trace.

    Returns:
        Columns of RANK_STEP and bubble_limit; where the trace shows no transfers, time
        with nothing on while passes of the step go on is a wait, too.
    """
    usual = usual_lengths(replay)
    first = lengths_alone(replay, usual)
    if first is None:
        return _limits(replay, usual)
    alone = replay.alone()
    stages = alone.workers().select("pp_rank", of_stage="rank")
    ranks = replay.operations.select(*RANK_STEP, "pp_rank").unique()
    told = _limits(alone, first).rename({"rank": "of_stage"})
    placed = ranks.join(stages, on="pp_rank").join(told, on=["step", "of_stage"])
    return placed.select(*RANK_STEP, "bubble_limit")


def _limits(replay: Replay, usual: npt.NDArray[np.int64]) -> pl.DataFrame:
    times = replay.schedule(usual)
    end = times["end_ns"]
    rows = replay.operations.select(*RANK_STEP, "kind", "is_transfer").with_columns(
        times[START], end, until_ns=end - pl.Series(usual)
    )
    waits = pl.when("is_transfer").then("until_ns").otherwise(START)
    ended = rows.group_by("step").agg(ended_ns=pl.col(END).max())
    ranks = rows.select(RANK_STEP).unique().join(ended, on="step").sort(RANK_STEP)
    windows = ranks.with_columns(
        pl.lit(0, pl.Int64).alias(START), pl.col("ended_ns").alias(END)
    )
    measured = spent(rows.with_columns(until_ns=waits), windows)
    quiet = pl.lit(0) if replay.graph.has_transfers else pl.col("quiet_ns")
    return measured.select(*RANK_STEP, bubble_limit=pl.col("stages_ns") + quiet)
