"""The pod's data feed: one stall, and a restart that gave a batch again."""

from decimal import Decimal

from analysis.data_feed import DataFeed, DataFeedViolations
from analysis.data_feed_steps import DataFeedSteps
from ingest.tables import Table
from tests.reports.builder import RUN, STEPS, Row, S

#: Step that waited for its input, and the one that a restart began with.
STALLED, RESUMED = 40, 60


def fault(run: str = RUN) -> Row:
    """The batch that a restart gave again: 0.01 GPU-hours of it."""
    return {
        "run_id": run,
        "attempt": 1,
        "step": RESUMED,
        "kind": "restart_repeats",
        "dataset": "web",
        "epoch": 0,
        "ranks": "0-7",
        "dp_ranks": "0-3",
        "sample_from": 1_888,
        "sample_to": 1_920,
        "samples_count": 32,
        "other_attempt": 0,
        "other_step": RESUMED - 1,
        "gpu_ns": Decimal(36 * S),
        "cost_basis": "share of the step's GPU time",
        "evidence": "attempt 1 began with step 60; 32 samples came again",
    }


def _step(run: str, number: int) -> Row:
    waited = number == STALLED
    return {
        "run_id": run,
        "attempt": int(number >= RESUMED),
        "step": number,
        "is_kept": True,
        "ranks_seen": 8,
        "readers_seen": 4,
        "readers_expected": 4,
        "samples": 32,
        "imbalance_ratio": 1.5,
        "imbalance_time_ratio": 0.07,
        "step_gpu_ns": Decimal(36 * S),
        "data_gpu_ns": Decimal(9 * S if waited else S // 10),
        "data_ns_max": 2 * S if waited else S // 50,
        "stalled_ranks": 8 if waited else 0,
    }


def feed(run: str = RUN) -> dict[type[Table], list[Row]]:
    """Its faults, its steps and what is said of it."""
    whole = {
        "run_id": run,
        "verdict": "violations",
        "violations_count": 1,
        "steps_count": STEPS,
        "redone_count": 0,
        "ranks": 8,
        "readers": 4,
        "lacking_count": 0,
        "samples": 32 * STEPS,
        "is_ordered": True,
        "lost_gpu_ns": Decimal(36 * S),
        "imbalance_ratio": 1.5,
        "imbalance_time_ratio": 0.07,
        "longest_document": 8_192,
        "stalled_count": 1,
        "stalled_gpu_ns": Decimal(9 * S),
        "data_stall_gpu_ns": Decimal(18 * S),
    }
    return {
        DataFeedViolations: [fault(run)],
        DataFeedSteps: [_step(run, number) for number in range(STEPS)],
        DataFeed: [whole],
    }
