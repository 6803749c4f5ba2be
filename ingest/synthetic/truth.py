"""What was put into a synthetic run, and what it costs: the answers to be found."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ingest.synthetic.feed_sample import feed_truth
from ingest.synthetic.fleet import Gpu
from ingest.synthetic.run import Attempt, attempts_of
from ingest.synthetic.scenario import Scenario


def truth_of(
    scenario: Scenario, attempts: Sequence[Attempt], gpus: Sequence[Gpu]
) -> dict[str, Any]:
    """Return the truth about a run. Times and GPU time in ns."""
    return {
        "seed": scenario.seed,
        "run_id": scenario.run_id,
        "cluster": scenario.cluster,
        "ranks": scenario.ranks,
        "attempts": [_attempt(attempt) for attempt in attempts],
        "clock_offsets_ns": {gpu.host: scenario.offset_ns(gpu.rank) for gpu in gpus},
        "traced_steps": list(scenario.traced_steps),
        "data_stall_steps": list(scenario.data_stall_steps),
        "checkpoint_steps": [
            step
            for step in range(scenario.planned_steps)
            if scenario.has_checkpoint(step)
        ],
        "straggler": _straggler(scenario, attempts, gpus),
        "failure": _failure(scenario, attempts, gpus),
        "data_feed": feed_truth(scenario),
        "gpu_ns": _accounts(scenario, attempts),
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    numbers = list(attempt.steps)
    return {
        "attempt": attempt.number,
        "submit_ns": attempt.submit,
        "start_ns": attempt.start,
        "end_ns": attempt.end,
        "first_step": numbers[0],
        "last_step": numbers[-1],
        "first_step_start_ns": min(s.start for s in attempt.steps[numbers[0]]),
        "last_step_end_ns": max(s.now for s in attempt.steps[numbers[-1]]),
    }


def _straggler(
    scenario: Scenario, attempts: Sequence[Attempt], gpus: Sequence[Gpu]
) -> dict[str, Any] | None:
    """Return the slow GPU and what the run would gain without it.

    The draws of a run do not depend on the speed of its GPUs, so that the same run
    with a healthy GPU is exact.
    """
    if scenario.slow_rank is None:
        return None
    gpu = gpus[scenario.slow_rank]
    healthy = attempts_of(replace(scenario, slowdown_ratio=1.0))
    saved = _stepping(attempts) - _stepping(healthy)
    return {
        "rank": gpu.rank,
        "host": gpu.host,
        "gpu_uuid": gpu.uuid,
        "slowdown_ratio": scenario.slowdown_ratio,
        "cause": "power cap",
        "power_limit_w": scenario.capped_limit_w,
        "saved_gpu_ns_when_repaired": saved,
    }


def _failure(
    scenario: Scenario, attempts: Sequence[Attempt], gpus: Sequence[Gpu]
) -> dict[str, Any] | None:
    failed = attempts[0].failed
    if failed is None:
        return None
    gpu = gpus[scenario.failed_rank]
    return {
        "rank": gpu.rank,
        "host": gpu.host,
        "gpu_uuid": gpu.uuid,
        "serial": gpu.serial,
        "pci_address": gpu.pci_address,
        "xid": 79,
        "time_ns": failed + scenario.offset_ns(gpu.rank),
        "resumed_step": scenario.resumed_step,
        "lost_steps": (scenario.failed_step or 0) - scenario.resumed_step,
    }


def _stepping(attempts: Sequence[Attempt]) -> int:
    return sum(
        step.duration
        for attempt in attempts
        for steps in attempt.steps.values()
        for step in steps
    )


def _accounts(scenario: Scenario, attempts: Sequence[Attempt]) -> dict[str, int]:
    """Split the paid GPU time by the parts of the steps; they add up to it."""
    paid = sum(scenario.ranks * (a.end - a.start) for a in attempts)
    kept = dict(attempts[0].steps)
    for attempt in attempts[1:]:
        kept |= attempt.steps
    cells = [step for steps in kept.values() for step in steps]
    durations = sum(step.duration for step in cells)
    parts = {
        "compute": sum(step.compute for step in cells),
        "communication": sum(step.communication for step in cells),
        "wait": sum(step.wait for step in cells),
        "data": sum(step.data for step in cells),
        "checkpoint": sum(step.checkpoint for step in cells),
    }
    return {
        "paid": paid,
        "restart": paid - _stepping(attempts),
        "recompute": _stepping(attempts) - durations,
        **parts,
        "rest_of_kept_steps": durations - sum(parts.values()),
    }
