"""What repairs of the pod would save: its slow rank, and communication."""

from decimal import Decimal

from analysis.whatif import WhatIf
from ingest.tables import Table
from tests.reports.builder import HOUR, RUN, SLOW_RANK, STEPS, Row, S


def repairs(run: str = RUN) -> dict[type[Table], list[Row]]:
    """Answers: the slow rank saves 5 GPU-hours, communication 9 at most."""
    everything = answer(run, "everything", "everything", 10)
    hidden = answer(run, "communication=hidden", "communication", 9)
    slow = answer(run, f"rank={SLOW_RANK}", "rank", 5) | {"ranks": str(SLOW_RANK)}
    noise = answer(run, "stage=last", "stage", 1) | {"is_beyond_noise": False}
    rows = [everything, hidden | {"is_bound": True}, slow, noise]
    return {WhatIf: rows}


def answer(run: str, repair: str, scope: str, hours: int) -> Row:
    """An answer that saves some GPU-hours, give or take a tenth."""
    saved = hours * HOUR // 8
    return {
        "run_id": run,
        "repair": repair,
        "method": "order_statistics",
        "attempt": 0,
        "scope": scope,
        "steps": STEPS,
        "ranks_held": 8,
        "actual_ns": 12 * HOUR,
        "simulated_ns": 12 * HOUR,
        "repaired_ns": 12 * HOUR - saved,
        "slowdown_ratio": 12 * HOUR / (12 * HOUR - saved),
        "saved_step_ns": saved / STEPS,
        "saved_gpu_ns": Decimal(hours * HOUR),
        "saved_low_gpu_ns": Decimal(hours * HOUR - hours * HOUR // 10),
        "saved_high_gpu_ns": Decimal(hours * HOUR + hours * HOUR // 10),
        "fidelity_ratio": 0.01,
        "is_joint": False,
        "is_bound": False,
        "is_reliable": True,
        "is_beyond_noise": True,
        "assumption": f"steps of {2 * S} ns go on as they were",
        "left_out_count": 0,
    }
