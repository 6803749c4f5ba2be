"""One row per row of a link benchmark."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class BandwidthTests(Table):
    """One row per row of a link benchmark."""

    key: ClassVar = (
        "run_id",
        "hosts",
        "kind",
        "bytes_total",
        "time_ns",
        "test_id",
        "position",
    )
    day_column: ClassVar = "time_ns"

    file_id = c.identifier("File that the row was read from.")
    run_id = c.identifier("Run or test that the row belongs to.")
    test_id = c.identifier("Table of results that the row is in.")
    position = c.index("Position of the row in its file.")
    hosts = c.text("Nodes that took part, separated by commas.")
    time_ns = c.time_ns(
        "When it was measured, else when the test started.", nullable=True
    )
    time_quality = c.choice(
        "How the time is known.", ("exact", "zone_assumed"), nullable=True
    )
    kind = c.identifier("Kind of collective; unknown where the source does not tell.")
    bytes_total = c.size_bytes("Size of the whole message.")
    dtype = c.identifier("Number format of the elements.", nullable=True)
    reduction = c.identifier("Operation of a reduction (sum, ...).", nullable=True)
    root = c.index("Rank that is the root, where the kind has one.", nullable=True)
    in_place = c.flag("Whether the result replaced the input.", nullable=True)
    duration_ns = c.duration_ns("Time of one operation.")
    algbw_gbs = c.quantity("Size over time.", "GB/s", nullable=True)
    busbw_gbs = c.quantity(
        "Size over time, corrected for the kind.", "GB/s", nullable=True
    )
    ranks = c.number("Ranks that took part.", nullable=True)
    wrong_count = c.count("Elements with a wrong result.", nullable=True)
