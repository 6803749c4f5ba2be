"""The pipeline of the small pod: four stages of two ranks, the last one slow."""

from decimal import Decimal

from tests.reports.builder import Row, S

#: Stages, chunks and micro-batches: a schedule in balance has a bubble of 3 / 16.
STAGES, CHUNKS, BATCHES = 4, 2, 8


def bubbles(run: str) -> list[Row]:
    """The bubble of each stage, in 10 steps of 2 s of 2 ranks: 40 s of GPU time."""
    return [bubble(run, stage) for stage in range(STAGES)]


def bubble(run: str, stage: int) -> Row:
    """A stage computes 20 s, the last one 32 s."""
    is_last = stage == STAGES - 1
    warm, steady, cool = (2, 0, 4) if is_last else (5, 7, 6)
    whole, computed = warm + steady + cool, 32 if is_last else 20
    times = {
        "step_ns": 40,
        "compute_ns": computed,
        "bubble_ns": whole,
        "warm_up_ns": warm,
        "steady_ns": steady,
        "cool_down_ns": cool,
        "straggler_ns": 1,
        "imbalance_ns": -2 if is_last else 10,
        "uneven_ns": -1 if is_last else 11,
        "communication_ns": 1,
    }
    return {
        "run_id": run,
        "attempt": 0,
        "trace_id": "operations",
        "pp_rank": stage,
        "stages": STAGES,
        "chunks": CHUNKS,
        "microbatches": BATCHES,
        "steps_count": 10,
        "rank_steps_count": 20,
        "bubble_ratio": whole / computed,
        "step_bubble_ratio": whole / 40,
        "expected_ratio": 3 / 16,
        "replay_error_ratio": 0.004,
        **{name: Decimal(seconds) * S for name, seconds in times.items()},
    }
