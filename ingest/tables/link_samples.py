"""One row per port and sample."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class LinkSamples(Table):
    """One row per port and sample."""

    key: ClassVar = ("cluster", "host", "port", "time_ns", "series")
    day_column: ClassVar = "time_ns"

    file_id = c.identifier("File that the row was read from.")
    cluster = c.identifier("Cluster of the node.")
    host = c.identifier("Node of the port.")
    port = c.identifier(
        "Port: `mlx5_0/1`, `eth0`, `nvlink:<GPU>` of all links of a GPU,"
        " `nvlink:<GPU>/<link>`."
    )
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
    errors = c.number("State of the counter of packets with errors.", nullable=True)
    recoveries = c.number("State of the counter of links recovered.", nullable=True)
    transmit_waits = c.number(
        "State of the counter of ticks in which data waited to be sent.", nullable=True
    )
    out_of_sequence = c.number(
        "State of the counter of packets received out of order.", nullable=True
    )
    ack_timeouts = c.number(
        "State of the counter of acknowledgements that came too late.", nullable=True
    )
    time_quality = c.choice(
        "How the time is known; `resampled` is that of a query, up to five minutes"
        " after the sample.",
        ("exact", "zone_assumed", "file_time", "resampled"),
        nullable=True,
    )
    series = c.identifier(
        "Metric that the row is of, where its source gives each alone: of discards,"
        " pauses and errors that is a part. Null where the row has everything that was"
        " sampled.",
        nullable=True,
    )
