"""One row per run, host and GPU; the run is null where no run held it."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class Energy(Table):
    """One row per run, host and GPU; the run is null where no run held it."""

    key: ClassVar = ("run_id", "cluster", "host", "gpu_uuid")

    run_id = c.identifier("Run that held the GPU.", nullable=True)
    cluster = c.identifier("Cluster of the GPU.")
    host = c.identifier("Node of the GPU.", nullable=True)
    gpu_uuid = c.identifier("UUID of the GPU, or the best identity known.")
    from_ns = c.time_ns("Start of the window.")
    to_ns = c.time_ns("End of the window.")
    energy_j = c.quantity("Energy measured inside the window.", "J", nullable=True)
    method = c.choice(
        "How it was measured.",
        ("counter", "trapezoid_average", "trapezoid_instant", "none"),
    )
    coverage_ratio = c.ratio("Share of the window that was measured.")
    mean_w = c.watts("Energy over the time measured.", nullable=True)
    peak_w = c.watts("Greatest power sampled.", nullable=True)
    samples_count = c.count("Samples used.")
    quality = c.text(
        "Reasons for doubt, separated by commas; empty where there are none."
    )
