"""One row per scope, level and cause."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class InterruptRates(Table):
    """One row per scope, level and cause."""

    key: ClassVar = (
        "cluster",
        "run_id",
        "level",
        "scope",
        "scope_id",
        "category",
        "component",
    )

    cluster = c.identifier("Cluster.")
    run_id = c.identifier("Run; null for a cluster as a whole.", nullable=True)
    level = c.choice("What is counted.", ("line", "event", "incident", "interruption"))
    scope = c.choice("Where it is counted.", ("cluster", "run", "host"))
    scope_id = c.identifier("Which one.")
    category = c.identifier("Category of the cause; `all` for the sum.")
    component = c.identifier("Component at fault; `all` for the sum.")
    period_start_ns = c.time_ns("Start of the time observed.", nullable=True)
    period_end_ns = c.time_ns("End of the time observed.", nullable=True)
    count = c.count("How many.")
    exposure_ns = c.gpu_time_ns(
        "Node-time observed; for a run, its own time.", nullable=True
    )
    exposure_basis = c.choice("What the exposure was taken from.", ("attempts", "none"))
    mtbf_ns = c.duration_ns("Mean time between them.", nullable=True)
    mtbf_low_ns = c.duration_ns("Lower end of its exact 95 % interval.", nullable=True)
    mtbf_high_ns = c.duration_ns("Upper end; null where unbounded.", nullable=True)
    per_1000_node_days = c.real("Rate for a thousand nodes and a day.", nullable=True)
    per_1000_node_days_low = c.real(
        "Lower end of its exact 95 % interval.", nullable=True
    )
    per_1000_node_days_high = c.real(
        "Upper end of its exact 95 % interval.", nullable=True
    )
