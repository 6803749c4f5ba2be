"""One row per run, attempt, day, account and basis."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class LostTime(Table):
    """One row per run, attempt, day, account and basis."""

    key: ClassVar = ("run_id", "attempt", "day", "category", "basis")

    run_id = c.identifier("Run that paid.")
    attempt = c.index("Attempt; null between attempts.", nullable=True)
    day = c.identifier("UTC day, as YYYY-MM-DD.")
    category = c.choice(
        "Account.",
        (
            "productive",
            "exposed_communication",
            "straggler_wait",
            "pipeline_bubble",
            "data_stall",
            "checkpoint_stall",
            "idle",
            "recompute",
            "restart",
            "unallocated",
            "unattributed",
        ),
    )
    basis = c.choice(
        "Evidence: the best there is for each rank and step.",
        (
            "collectives",
            "kernels_include_wait",
            "operations",
            "step_parts",
            "step_duration_upper_bound",
            "jobs",
            "none",
        ),
    )
    gpu_ns = c.gpu_time_ns("GPU time in the account.")
