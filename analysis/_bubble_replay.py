"""What adds to the bubble of a pipeline: slow workers, imbalance, transfers."""

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis._bubble_phases import STAGE, bubble_ns, split_phases
from analysis._replay_kinds import PASSES, PEERS
from analysis._replay_steps import Replay

#: Operations that one and the same stage does alike in every replica.
_ALIKE: Final = ("step", "pp_rank", "kind", "chunk")

#: Shares of a bubble that a replay tells apart. [ns]
SHARES: Final = ("straggler_ns", "imbalance_ns", "communication_ns")

#: Both of the first shares together, and those of transfers: always told. [ns]
TOLD: Final = (*SHARES, "uneven_ns")

#: Replicas from which the median of a stage tells a slow worker from a slow stage:
#: of two, either may be the usual one. [1]
REPLICAS_FROM: Final = 3

#: Two replicas agree where what tells them apart is up to this part of what stages
#: out of balance add: then the stage is slow in both. [1]
AGREE_UP_TO: Final = 0.1


def replayed_shares(replay: Replay) -> pl.DataFrame:
    """Replay a trace better and better, and say what each step takes from the bubble.

    First every operation takes the median of its stage, so that no worker and no
    micro-batch is slow. Then passes take the mean over all stages, so that these are in
    balance. Then transfers between stages take no time. What is left is the schedule's.
    All are compared with a replay of what was measured, so that an error of the replay
    is in none of the differences.

    Returns:
        Columns pp_rank and TOLD, in total over steps and replicas; negative where a
        stage has more of a bubble without the fault, communication_ns null where the
        trace shows no transfers; straggler_ns and imbalance_ns null where replicas
        are too few to tell them apart, with their sum in uneven_ns. [ns]
    """
    usual = usual_lengths(replay)
    balanced = _balanced(replay, usual)
    lengths = [replay.own_ns(), usual, balanced, _without_transfers(replay, balanced)]
    bubbles = [_of_all(replay, own).sort("pp_rank") for own in lengths]
    after = zip(SHARES, bubbles[:3], bubbles[1:], strict=True)
    shares = {name: one["bubble"] - other["bubble"] for name, one, other in after}
    told = bubbles[0].select("pp_rank").with_columns(**shares)
    told = told.with_columns(uneven_ns=pl.col("straggler_ns") + pl.col("imbalance_ns"))
    blank = [] if _is_split(told, replay.shape[2]) else list(SHARES[:2])
    if not replay.graph.has_transfers:
        blank.append("communication_ns")
    return told.with_columns(pl.lit(None, pl.Int128).alias(name) for name in blank)


def _is_split(told: pl.DataFrame, replicas: int) -> bool:
    """Whether replicas tell slow workers from stages out of balance.

    With one replica a slow worker is a slow stage. Of two that differ, the usual one
    is a guess.
    """
    if replicas >= REPLICAS_FROM:
        return True
    differ, same = (
        float(told[name].cast(pl.Float64).abs().sum()) for name in SHARES[:2]
    )
    if replicas == 1:
        return differ + same == 0
    return differ <= AGREE_UP_TO * same


def usual_lengths(replay: Replay) -> npt.NDArray[np.int64]:
    """Return lengths in which every operation takes the median of its peers. [ns]

    Peers are the same kind of the same stage and chunk in the same step, over replicas
    and micro-batches; of an even number of them the lower of the two in the middle, so
    that of two replicas the faster is the usual one.
    """
    median = pl.col("own_ns").quantile(0.5, interpolation="lower").cast(pl.Int64)
    return replay.operations.select(median.over(_ALIKE))["own_ns"].to_numpy()


def lengths_alone(
    replay: Replay, own_ns: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64] | None:
    """Return lengths for `Replay.alone`; None where not all replicas have them. [ns]

    Args:
        replay: Replay of the trace.
        own_ns: Length of every operation, by row. [ns]
    """
    shaped = own_ns.reshape(replay.shape)
    first = shaped[:, :, :1, :1]
    return first.reshape(-1) if bool((shaped == first).all()) else None


def replay_error(replay: Replay) -> float:
    """Return how far replayed steps are from measured ones, on average. [1]"""
    simulated = replay.step_times(replay.own_ns())
    actual = replay.actual_steps()["actual_ns"].to_numpy()
    error = np.abs(simulated - actual) / np.maximum(actual, 1)
    return float(error.mean())


def _of_all(replay: Replay, own_ns: npt.NDArray[np.int64]) -> pl.DataFrame:
    """Return the bubble of each stage, from one replica where all are alike. [ns]"""
    first = lengths_alone(replay, own_ns)
    if first is None:
        return _bubbles(replay, own_ns)
    alike = replay.shape[2] * replay.shape[3]
    return _bubbles(replay.alone(), first).with_columns(pl.col("bubble") * alike)


def _bubbles(replay: Replay, own_ns: npt.NDArray[np.int64]) -> pl.DataFrame:
    """Return the bubble of each stage with other lengths of operations. [ns]"""
    times = replay.schedule(own_ns)
    named = replay.operations.select(*STAGE, "rank", "kind")
    both = pl.concat([named, times], how="horizontal")
    parts = split_phases(both.filter(pl.col("kind").is_in(PASSES)))
    return parts.group_by("pp_rank").agg(bubble=bubble_ns().cast(pl.Int128).sum())


def _balanced(replay: Replay, usual: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return lengths in which every pass takes the mean over stages and chunks. [ns]"""
    named = replay.operations.select("step", "kind", own=pl.lit(usual))
    mean = pl.col("own").mean().round().cast(pl.Int64).over("step", "kind")
    is_pass = pl.col("kind").is_in(PASSES)
    return named.select(pl.when(is_pass).then(mean).otherwise("own"))["own"].to_numpy()


def _without_transfers(
    replay: Replay, own_ns: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    is_transfer = replay.operations["kind"].is_in(list(PEERS)).to_numpy()
    return np.where(is_transfer, 0, own_ns)
