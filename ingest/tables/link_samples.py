"""One row per port and sample."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class LinkSamples(Table):
    """One row per port and sample."""

    key: ClassVar = ("cluster", "host", "port", "time_ns")
    day_column: ClassVar = "time_ns"

    file_id = c.identifier("File that the row was read from.")
    cluster = c.identifier("Cluster of the node.")
    host = c.identifier("Node of the port.")
    port = c.identifier("Port.")
    peer = c.identifier("Port at the other end.", nullable=True)
    time_ns = c.time_ns("Time of the sample.")
    tx_bytes = c.size_bytes("State of the counter of data sent.", nullable=True)
    rx_bytes = c.size_bytes("State of the counter of data received.", nullable=True)
    discards = c.number("State of the counter of packets dropped.", nullable=True)
    retransmits = c.number("State of the counter of packets sent again.", nullable=True)
    pauses = c.number("State of the counter of pauses.", nullable=True)
    congestion_marks = c.number(
        "State of the counter of marked packets.", nullable=True
    )
    link_downs = c.number("State of the counter of lost links.", nullable=True)
    symbol_errors = c.number("State of the counter of symbol errors.", nullable=True)
