"""Steps of a trace with something repaired, replayed on the graph of its operations."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis._replay_kinds import DP_KINDS
from analysis._replay_lengths import ideal_lengths
from analysis._replay_steps import Replay
from analysis._whatif_fix import IDEAL_KINDS, IDEAL_PLACES, Fix

#: Sums of steps and of GPU time need it: damaged ones may pass Int64.
_WIDE: Final = pl.Int128


def steps_with(
    replay: Replay, fixes: Mapping[str, Sequence[Fix]], ranks: int
) -> pl.DataFrame:
    """Return steps of a trace as they were and with each repair.

    Args:
        replay: The trace.
        fixes: What is repaired, by name: several together where there are several.
        ranks: Ranks that a step holds up. [1]

    Returns:
        Columns `name`, `attempt`, `block` (the step), `steps`, `ranks`, `actual_ns`,
        `simulated_ns`, `repaired_ns` and `saved_gpu_ns` (Int128), `saved_squared`,
        and `trace_id` and `operations` of the step.
    """
    simulated = pl.Series("simulated_ns", replay.step_times(replay.own_ns()))
    before = replay.actual_steps().with_columns(simulated)
    found = [
        before.with_columns(
            pl.Series("repaired_ns", _repaired(replay, some)), name=pl.lit(name)
        )
        for name, some in fixes.items()
    ]
    none = before.head(0).with_columns(
        repaired_ns=pl.lit(0, pl.Int64), name=pl.lit("", pl.String)
    )
    wide = pl.concat([none, *found]).with_columns(
        pl.col("actual_ns", "simulated_ns", "repaired_ns").cast(_WIDE)
    )
    saved = (pl.col("simulated_ns") - pl.col("repaired_ns")) * ranks
    return wide.select(
        "name",
        pl.lit(replay.attempt, pl.Int32).alias("attempt"),
        pl.col("step").cast(pl.Int64).alias("block"),
        pl.lit(1, pl.Int64).alias("steps"),
        pl.lit(ranks, pl.Int64).alias("ranks"),
        *("actual_ns", "simulated_ns", "repaired_ns"),
        saved_gpu_ns=saved,
        saved_squared=saved.cast(pl.Float64) ** 2,
        trace_id=pl.lit(replay.trace_id),
        operations=pl.lit(replay.operations.height // len(replay.steps), pl.Int64),
    )


def _repaired(replay: Replay, fixes: Sequence[Fix]) -> npt.NDArray[np.int64]:
    rows = replay.operations.with_columns(own="own_ns")
    least = np.zeros(len(replay.steps), dtype=np.int64)
    changed = -1
    for one in sorted(fixes, key=lambda one: (one.order, one.is_hidden)):
        if one.is_hidden:
            least = _longest_stream(rows)
        if one.order in (IDEAL_PLACES, IDEAL_KINDS) and -1 < changed < one.order:
            rows = _ideal_again(rows)
        changed = one.order
        rows = rows.with_columns(own=one.own.round().cast(pl.Int64))
    return np.maximum(replay.step_times(rows["own"].to_numpy()), least)


def _ideal_again(rows: pl.DataFrame) -> pl.DataFrame:
    """Return operations with what is usual of their kind after earlier repairs.

    A slow rank that is repaired does not slow what is usual any more.
    """
    usual = ideal_lengths(rows["kind"], rows["own"].to_numpy())
    return rows.with_columns(ideal_ns=pl.lit(pl.Series(usual)))


def _longest_stream(rows: pl.DataFrame) -> npt.NDArray[np.int64]:
    """Return what the busiest stream of transfers takes in each step. [ns]

    Collectives over replicas share a stream; each kind of send and receive has one.
    """
    kind = pl.col("kind").cast(pl.String)
    stream = pl.when(kind.is_in(DP_KINDS)).then(pl.lit("dp")).otherwise(kind)
    busy = pl.when("is_transfer").then("own").otherwise(0).sum()
    streams = rows.group_by("step", "rank", stream.alias("stream")).agg(
        busy.alias("busy")
    )
    longest = streams.group_by("step").agg(busy=pl.col("busy").max())
    return longest.sort("step")["busy"].to_numpy()
