"""The pod's shares of useful time, of the hours that its ledger books."""

from decimal import Decimal

from analysis.goodput import Goodput
from analysis.goodput_days import GoodputDays
from ingest.tables import Table
from tests.reports.builder import HOUR, START, Row

#: GPU-hours of a day, by what became of them; 70 of them productive.
HOURS: Row = {
    "paid_gpu_ns": 100,
    "productive_gpu_ns": 70,
    "training_gpu_ns": 88,
    "checkpoint_stall_gpu_ns": 0,
    "recompute_gpu_ns": 4,
    "restart_gpu_ns": 5,
    "unallocated_gpu_ns": 0,
    "unattributed_gpu_ns": 3,
}


def goodput(run: str) -> dict[type[Table], list[Row]]:
    """Two days alike, and the run of both."""
    one, two = (
        {name: Decimal(days * hours * HOUR) for name, hours in HOURS.items()}
        for days in (1, 2)
    )
    shares = {"goodput_ratio": 0.7, "training_ratio": 0.88}
    whole = {
        "run_id": run,
        "start_ns": START,
        "end_ns": START + 25 * HOUR,
        "wall_ns": 25 * HOUR,
        "elapsed_ns": 24 * HOUR,
        "queue_ns": HOUR,
        "training_ns": 22.0 * HOUR,
        "is_upper_bound": False,
        "steps_kept": 120,
        "steps_repeated": 5,
        "kept_step_ns": Decimal(22 * HOUR),
        "interruptions_count": 1,
        "planned_count": 0,
        "ettr_ratio": 22 / 25,
        "ettr_without_queue_ratio": 22 / 24,
        "effective_training_ratio": 22 / 24,
        "google_goodput_ratio": 0.93,
        "mfu_reason": "no peak",
    }
    days = ("2026-11-18", "2026-11-19")
    return {
        Goodput: [whole | two | shares],
        GoodputDays: [{"run_id": run, "day": day} | one | shares for day in days],
    }
