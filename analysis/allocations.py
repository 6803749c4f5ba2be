"""One row per GPU paid for, while it had one role."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class Allocations(Table):
    """One row per GPU paid for, while it had one role."""

    key: ClassVar = ("run_id", "attempt", "rank", "host", "gpu_uuid", "slot", "from_ns")

    run_id = c.identifier("Run that paid.")
    attempt = c.index(
        "Attempt that held the GPU; null between attempts.", nullable=True
    )
    cluster = c.identifier("Cluster of the GPU.", nullable=True)
    rank = c.index("Global rank; null for other roles.", nullable=True)
    slot = c.index("Position among the GPUs of the attempt.")
    host = c.identifier("Node of the GPU.", nullable=True)
    gpu_uuid = c.identifier("UUID of the GPU.", nullable=True)
    from_ns = c.time_ns("Start of the time paid for.")
    to_ns = c.time_ns("End of the time paid for.")
    role = c.choice(
        "What the GPU was held for.", ("rank", "spare", "repair", "restart")
    )
