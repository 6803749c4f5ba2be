"""One row per interval of work on a GPU stream."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class Kernels(Table):
    """One row per interval of work on a GPU stream."""

    key: ClassVar = ("run_id", "attempt", "trace_id", "device", "start_ns", "event")
    day_column: ClassVar = "start_ns"

    file_id = c.identifier("File that the row was read from.")
    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index(
        "Attempt of the run; null where only the time can tell.", nullable=True
    )
    trace_id = c.identifier("Trace that the work was seen in.")
    rank = c.index("Global rank; null where the trace does not tell.", nullable=True)
    device = c.index("Device inside the trace.")
    stream = c.number("Stream of the device.")
    event = c.number("Position of the event in its trace.")
    name = c.text("Name of the kernel or copy.")
    category = c.choice("What the work is.", ("compute", "communication", "memory"))
    start_ns = c.time_ns(
        "Start on the device; before 2000 where the trace counts from a moment of its"
        " own."
    )
    duration_ns = c.length_ns("Length on the device.")
    step = c.number(
        "Step that launched the work; null outside every step.", nullable=True
    )
    linked = c.flag("Whether the event that launched the work is in the trace.")
