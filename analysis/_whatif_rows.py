"""Answers as rows: totals over the steps seen, with their limits."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import polars as pl

from analysis._replay_causes import STRAGGLES_FROM
from analysis._straggler_limits import BLOCK_STEPS, GATE_RATIO, MIN_PEERS
from analysis._whatif_claims import Claim, Wish
from analysis.replays import RELIABLE_UP_TO

#: Blocks of steps below which nothing is said of how much a saving varies. [1]
_MIN_BLOCKS: Final = 5

#: Standard errors of a 95 % interval of a normal distribution. [1]
_Z95: Final = 1.96

#: Repairs of places that healthy scatter makes seem worth something.
PLACES: Final = ("rank", "gpu", "host", "rack", "replica", "stage", "joint")

#: Repairs that are worthwhile only in a job that straggles, or of what was found slow.
_LIMITED: Final = (*PLACES, "workers", "link", "sequence-lengths", "everything")


@dataclass(frozen=True, slots=True)
class Limits:
    """From where on an answer is more than noise.

    Attributes:
        reliable_up_to: Share by which simulated steps may miss the real ones. [1]
        straggles_from: Slowdown from which a job straggles. [1]
        gate_ratio: Slowdown below which a repair would not pay. [1]
        min_peers: Peers below which a median is one of the suspects. [1]
        block_steps: Steps of a block. [1]
    """

    reliable_up_to: float = RELIABLE_UP_TO
    straggles_from: float = STRAGGLES_FROM
    gate_ratio: float = GATE_RATIO
    min_peers: int = MIN_PEERS
    block_steps: int = BLOCK_STEPS


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked of a run, what it claims, and the steps that answer it."""

    run_id: str
    method: str
    wish: Wish
    claim: Claim


def row(
    answer: Answer, blocks: pl.DataFrame, slowdown: float, limits: Limits
) -> dict[str, Any]:
    """Return an answer as a row of the result table.

    Args:
        answer: What was asked.
        blocks: Blocks of steps as they were and repaired.
        slowdown: Slowdown of the run, everything ideal; 1 where it is not known. [1]
        limits: From where on an answer is more than noise.
    """
    sums = blocks.select(
        pl.col("steps", "actual_ns", "simulated_ns", "repaired_ns").sum(),
        pl.col("ranks").max().alias("ranks_held"),
    ).row(0, named=True)
    actual, simulated = sums["actual_ns"], sums["simulated_ns"]
    repaired = sums["repaired_ns"]
    fidelity = abs(simulated - actual) / actual if actual else None
    ratio = simulated / repaired if repaired > 0 else None
    attempts = blocks["attempt"].unique()
    total, low, high = _interval(blocks)
    doubts = _doubts(answer, fidelity, limits)
    noise = _noise(answer, ratio, slowdown, limits)
    return {
        **_named(answer),
        **sums,
        "attempt": attempts[0] if len(attempts) == 1 else None,
        "slowdown_ratio": ratio,
        "saved_step_ns": (simulated - repaired) / sums["steps"],
        "saved_gpu_ns": Decimal(total),
        "saved_low_gpu_ns": low,
        "saved_high_gpu_ns": high,
        "fidelity_ratio": fidelity,
        "is_reliable": not doubts,
        "is_beyond_noise": not noise and total > 0,
        "doubt": "; ".join(filter(None, (*doubts, noise))) or None,
    }


def _named(answer: Answer) -> dict[str, Any]:
    """Return what was asked and is claimed, whatever came of it."""
    return {
        "run_id": answer.run_id,
        "repair": answer.wish.name,
        "method": answer.method,
        "scope": answer.claim.scope,
        "ranks": answer.claim.ranks or None,
        "is_joint": answer.wish.is_joint,
        "is_bound": answer.claim.is_bound,
        "assumption": answer.claim.assumption,
        "left_out_count": answer.wish.left_out,
    }


def _interval(blocks: pl.DataFrame) -> tuple[int, Decimal | None, Decimal | None]:
    """Return a saving and how far another run of the same would vary it. [ns]

    From the scatter of blocks in which it saved something: a normal interval of 95 %,
    from zero on where no block lost.
    """
    sums = blocks["saved_gpu_ns"]
    total = sum(sums.to_list())
    some = sums.filter(sums != 0).cast(pl.Float64).sort()
    if len(some) < _MIN_BLOCKS:
        return total, None, None
    half = round(_Z95 * float(str(some.std())) * len(some) ** 0.5)
    least = 0 if float(str(some.min())) > 0 else total - half
    return total, Decimal(max(total - half, least)), Decimal(total + half)


def _doubts(answer: Answer, fidelity: float | None, limits: Limits) -> list[str]:
    found = []
    if fidelity is None or fidelity > limits.reliable_up_to:
        told = "unknown" if fidelity is None else f"{100 * fidelity:.1f} %"
        found.append(f"simulated steps miss the real ones by {told}")
    peers = answer.claim.peers
    if peers is not None and peers < limits.min_peers:
        found.append(
            f"only {peers} to compare with: fewer than {limits.min_peers} peers"
        )
    return found


def _noise(answer: Answer, ratio: float | None, slowdown: float, limits: Limits) -> str:
    """Return why an answer may be no more than scatter; empty where it is more."""
    claim = answer.claim
    if claim.doubt:
        return claim.doubt
    if answer.wish.is_flagged or claim.scope not in _LIMITED:
        return ""
    if claim.scope == "everything":
        is_slow = ratio is not None and ratio >= limits.straggles_from
        return "" if is_slow else "no more than a healthy job scatters"
    if answer.method != "replay":
        return "not found slow: it may be no more than healthy ranks scatter"
    if slowdown < limits.straggles_from:
        return "the job does not straggle: it may be no more than healthy scatter"
    is_worth = ratio is not None and ratio >= limits.gate_ratio
    return "" if is_worth else "no more than healthy scatter"
