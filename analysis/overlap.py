"""One row per trace, device and step; where step is null, the whole trace."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class Overlap(Table):
    """One row per trace, device and step; where step is null, the whole trace."""

    key: ClassVar = ("run_id", "attempt", "trace_id", "device", "step")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    trace_id = c.identifier("Trace that was measured.")
    rank = c.index("Global rank; null where the trace does not tell.", nullable=True)
    device = c.index("Device inside the trace.")
    step = c.number("Step; null for the whole trace.", nullable=True)
    start_ns = c.time_ns("Start of the window on the device.")
    span_ns = c.duration_ns("Length of the window.")
    busy_ns = c.duration_ns("Time with any work.")
    compute_ns = c.duration_ns("Time with compute.")
    communication_ns = c.duration_ns("Time with communication.")
    memory_ns = c.duration_ns("Time with copies.")
    overlapped_ns = c.duration_ns("Time with compute and communication at once.")
    exposed_communication_ns = c.duration_ns("Time with communication and no compute.")
    exposed_memory_ns = c.duration_ns("Time with copies and nothing else.")
    idle_ns = c.duration_ns("Time with no work.")
    overlap_ratio = c.ratio(
        "Share of communication that compute hides; null without communication.",
        nullable=True,
    )
    linked_ratio = c.ratio(
        "Share of the work whose launch is in the trace.", nullable=True
    )
    compute_count = c.count("Compute kernels.")
    communication_count = c.count("Communication kernels.")
    memory_count = c.count("Copies.")
