"""One row per row of a link benchmark."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class BandwidthTests(Table):
    """One row per row of a link benchmark."""

    key: ClassVar = ("run_id", "hosts", "kind", "bytes_total", "time_ns")
    day_column: ClassVar = "time_ns"

    file_id = c.identifier("File that the row was read from.")
    run_id = c.identifier("Run or test that the row belongs to.")
    hosts = c.text("Nodes that took part, separated by commas.")
    time_ns = c.time_ns("When it was measured.", nullable=True)
    kind = c.identifier("Kind of collective.")
    bytes_total = c.size_bytes("Size of the whole message.")
    duration_ns = c.duration_ns("Time of one operation.")
    algbw_gbs = c.quantity("Size over time.", "GB/s", nullable=True)
    busbw_gbs = c.quantity(
        "Size over time, corrected for the kind.", "GB/s", nullable=True
    )
    ranks = c.number("Ranks that took part.", nullable=True)
