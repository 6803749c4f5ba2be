"""One row per failure event as a source reported it."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class Failures(Table):
    """One row per failure event as a source reported it."""

    key: ClassVar = (
        "cluster",
        "host",
        "gpu_key",
        "source",
        "code",
        "time_ns",
        "boot_offset_ns",
        "message",
        "occurrence",
    )
    day_column: ClassVar = "time_ns"

    file_id = c.identifier("File that the row was read from.")
    cluster = c.identifier("Cluster of the node.")
    host = c.identifier("Node; null where the source does not tell.", nullable=True)
    gpu_key = c.identifier(
        "GPU: UUID, serial or PCI address, the best that is known.", nullable=True
    )
    time_ns = c.time_ns(
        "When it happened; null where the source gives no time.", nullable=True
    )
    boot_offset_ns = c.duration_ns(
        "Time since the node started, where the source counts so.", nullable=True
    )
    time_quality = c.choice(
        "How the time is known.",
        ("exact", "zone_assumed", "year_inferred", "boot_relative", "unknown"),
    )
    source = c.choice(
        "Family of the code.",
        (
            "xid",
            "sxid",
            "kernel",
            "nic",
            "health",
            "scheduler",
            "application",
            "operator",
            "other",
        ),
    )
    code = c.identifier("Code in its family (79 of xid).")
    name = c.text("Meaning of the code.")
    component = c.identifier(
        "Component at fault (gpu, gpu_memory, nvlink, network, host, software, ...).",
        nullable=True,
    )
    severity = c.choice(
        "How bad it is.", ("info", "warning", "error", "fatal"), nullable=True
    )
    action = c.identifier("What the catalogue says to do.", nullable=True)
    message = c.text("The message, as it was found.")
    inferred = c.flag("Whether the code was inferred from words rather than read.")
    line_count = c.count("Lines of the source that the event took.")
    occurrence = c.index(
        "Position among events that are alike to the letter in one file."
    )
    part = c.text(
        "Part that the message names: link, place in the chip, memory module, disk,"
        " PCIe device or process."
    )
    run_id = c.identifier(
        "Run whose own log reported it; null where a node or the scheduler did.",
        nullable=True,
    )
    rank = c.index("Global rank that reported it, where it is told.", nullable=True)
    end_ns = c.time_ns(
        "When it was repaired or over; null where the source does not tell.",
        nullable=True,
    )
