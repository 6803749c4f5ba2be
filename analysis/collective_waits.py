"""One row per collective, its ranks brought together."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class CollectiveWaits(Table):
    """One row per collective, its ranks brought together."""

    key: ClassVar = (
        "run_id",
        "attempt",
        "group_id",
        "kind",
        "is_p2p",
        "sequence",
        "start_ns",
    )

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    group_id = c.identifier("Group of ranks.")
    kind = c.identifier("Kind of collective.")
    is_p2p = c.flag("Whether it is a send and its receive.")
    sequence = c.number("Number of the collective in its group.", nullable=True)
    match_method = c.choice("How ranks were brought together.", ("sequence", "order"))
    step = c.number("Step that launched it.", nullable=True)
    start_ns = c.time_ns("First arrival.")
    bytes_total = c.size_bytes("Size of the whole message.", nullable=True)
    ranks_seen = c.number("Ranks whose part was seen.")
    ranks_expected = c.number("Ranks of the group.", nullable=True)
    wait_ns_max = c.duration_ns("Longest wait of a rank for the last.", nullable=True)
    wait_ns_total = c.duration_ns("Waits of all ranks together.", nullable=True)
    late_ns = c.duration_ns(
        "Last arrival after the one before it: what that rank alone cost.",
        nullable=True,
    )
    transfer_ns = c.duration_ns("Last end after the last arrival.", nullable=True)
    algbw_gbs = c.quantity("Size over transfer time.", "GB/s", nullable=True)
    busbw_gbs = c.quantity(
        "Size over transfer time, corrected for the kind.", "GB/s", nullable=True
    )
    last_rank = c.index(
        "Rank that arrived last; null where incomplete or a tie.", nullable=True
    )
    clock_residual_ns = c.duration_ns(
        "Spread of the ends, which should be one instant.", nullable=True
    )
