"""The power of each run over time and over its steps."""

from typing import ClassVar

from analysis._power_steps import PARTS
from ingest.tables import Table
from ingest.tables import _columns as c


class PowerSteps(Table):
    """One row per step: what the run drew in it, and what the step did."""

    key: ClassVar = ("run_id", "attempt", "step")

    run_id = c.identifier("Run.")
    attempt = c.index("Attempt.")
    step = c.number("Step.")
    start_ns = c.time_ns("Start of the first rank.")
    end_ns = c.time_ns("End of the last.")
    is_kept = c.flag("Whether no later attempt took it again.")
    mean_w = c.watts("Mean power of all sampled GPUs together.", nullable=True)
    swing_w = c.watts("Highest less lowest in it.", nullable=True)
    duty_ratio = c.ratio("Share of it above the middle of both.", nullable=True)
    compute_ratio = c.ratio("Share of own work, mean over ranks.", nullable=True)
    communication_ratio = c.ratio("Share of communication.", nullable=True)
    wait_ratio = c.ratio("Share of waiting for other ranks.", nullable=True)
    data_ratio = c.ratio("Share of waiting for input.", nullable=True)
    checkpoint_ratio = c.ratio("Share of waiting for a checkpoint.", nullable=True)


class PowerProfiles(Table):
    """One row per run and bin of time: its power, and what its steps did."""

    key: ClassVar = ("run_id", "from_ns")

    run_id = c.identifier("Run.")
    from_ns = c.time_ns("Start of the bin.")
    width_ns = c.duration_ns("Length of the bin.")
    low_w = c.watts("Lowest power of all sampled GPUs together.", nullable=True)
    mean_w = c.watts("Mean.", nullable=True)
    high_w = c.watts("Highest.", nullable=True)
    coverage_ratio = c.ratio("Share of the bin in which power is known.")
    phase = c.choice(
        "What the step at its middle did most; none outside steps.",
        (*PARTS, "not_told", "none"),
    )
