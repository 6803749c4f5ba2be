"""Answers as rows: totals over the steps seen, with their limits."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import polars as pl

from analysis._whatif_claims import Claim, Wish
from analysis._whatif_doubts import Limits, Measured, doubts, noise
from analysis._whatif_intervals import interval
from analysis._whatif_paid import Paid, why_too_much

#: Greatest length that a column of the result table holds. [ns]
_MOST_NS: Final = 2**63 - 1

#: Numbers of an answer that cannot be told.
_NO_NUMBER: Final[dict[str, None]] = {
    "repaired_ns": None,
    "slowdown_ratio": None,
    "saved_step_ns": None,
    "saved_gpu_ns": None,
    "saved_low_gpu_ns": None,
    "saved_high_gpu_ns": None,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked of a run, what it claims, and the steps that answer it."""

    run_id: str
    method: str
    wish: Wish
    claim: Claim


def row(
    answer: Answer, blocks: pl.DataFrame, limits: Limits, paid: Paid | None
) -> dict[str, Any]:
    """Return an answer as a row of the result table.

    Args:
        answer: What was asked.
        blocks: Blocks of steps as they were and repaired.
        limits: From where on an answer is more than noise.
        paid: What the run paid for; None where that is not known.
    """
    steps, actual, simulated, repaired, total = (
        sum(blocks[name].to_list())
        for name in ("steps", *_LENGTHS.values(), "saved_gpu_ns")
    )
    low, high = interval(blocks)
    longest = int(str(blocks["actual_ns"].max()))
    is_scatter = low is not None and low <= 0
    too_much = why_too_much(paid, total, longest)
    found = Measured(actual, simulated, repaired, is_scatter, too_much)
    attempts = blocks["attempt"].unique()
    told = {
        **_named(answer),
        **_told(found, limits, answer),
        "steps": steps,
        "ranks_held": int(str(blocks["ranks"].max())),
        "attempt": attempts[0] if len(attempts) == 1 else None,
        "actual_ns": _fits(actual),
        "simulated_ns": _fits(simulated),
        "repaired_ns": _fits(repaired),
        "slowdown_ratio": found.ratio,
        "saved_step_ns": (simulated - repaired) / steps,
        "saved_gpu_ns": Decimal(total),
        "saved_low_gpu_ns": low,
        "saved_high_gpu_ns": high,
    }
    return told | _NO_NUMBER if found.why_no_number() else told


#: Columns of blocks that are summed.
_LENGTHS: Final = {name: f"{name}_ns" for name in ("actual", "simulated", "repaired")}


def _fits(length_ns: int) -> int | None:
    """Return a length that the table can hold; None where times cannot be right."""
    return length_ns if abs(length_ns) <= _MOST_NS else None


def _told(found: Measured, limits: Limits, answer: Answer) -> dict[str, Any]:
    """Return how far an answer can be trusted."""
    claim, wish = answer.claim, answer.wish
    why = doubts(claim, found, limits)
    is_replay = answer.method == "replay"
    scatter = noise(
        claim, found, limits, is_flagged=wish.is_flagged, is_replay=is_replay
    )
    saved = found.simulated_ns - found.repaired_ns
    is_told = not found.why_no_number()
    return {
        "fidelity_ratio": found.fidelity,
        "is_reliable": not why,
        "is_beyond_noise": is_told and not scatter and saved > 0,
        "doubt": "; ".join(filter(None, (*why, scatter if is_told else ""))) or None,
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
