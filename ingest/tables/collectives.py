"""One row per rank of a collective or of a send or receive."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class Collectives(Table):
    """One row per rank of a collective or of a send or receive."""

    key: ClassVar = ("run_id", "attempt", "trace_id", "start_ns", "event")
    day_column: ClassVar = "start_ns"

    file_id = c.identifier("File that the row was read from.")
    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index(
        "Attempt of the run; null where only the time can tell.", nullable=True
    )
    trace_id = c.identifier("Trace that the collective was seen in.")
    event = c.number("Position of the event in its trace.")
    step = c.number(
        "Step that launched the collective; null outside every step.", nullable=True
    )
    rank = c.index("Global rank; null where the trace does not tell.", nullable=True)
    rank_in_group = c.index(
        "Position of the rank in its group, where the source tells only that.",
        nullable=True,
    )
    host = c.identifier("Node, where the source tells it.", nullable=True)
    device = c.index("Device inside the trace.", nullable=True)
    stream = c.number("Stream of the device.", nullable=True)
    group_id = c.identifier("Group of ranks: name, members and communicator.")
    parallel_kind = c.identifier(
        "What the group is for (dp, tp, pp, ...).", nullable=True
    )
    group_size = c.number("Ranks of the group.", nullable=True)
    kind = c.identifier("Kind of collective (allreduce, allgather, ...).")
    is_p2p = c.flag("Whether it is a send or a receive.")
    peer_rank = c.index(
        "Global rank of the other side of a send or receive.", nullable=True
    )
    peer_in_group = c.index(
        "Position of the other side in the group, where the source tells only that.",
        nullable=True,
    )
    sequence = c.number("Number of the collective in its group.", nullable=True)
    p2p_sequence = c.number(
        "Number of the send or receive in its group.", nullable=True
    )
    match_method = c.choice("How ranks find each other.", ("sequence", "order"))
    bytes_total = c.size_bytes(
        "Size of the whole message, by one convention for all kinds.", nullable=True
    )
    dtype = c.identifier("Number format of the elements.", nullable=True)
    algorithm = c.identifier("Algorithm that the library chose.", nullable=True)
    enqueue_ns = c.time_ns("When the host asked for it.", nullable=True)
    start_ns = c.time_ns(
        "Start, waiting included; null where it has not started, or none was recorded;"
        " before 2000 where the trace counts from a moment of its own.",
        nullable=True,
    )
    end_ns = c.time_ns("End.", nullable=True)
    duration_ns = c.length_ns("Length, waiting included.", nullable=True)
    recorded_ns = c.time_ns(
        "When its record was written, where the record tells it.", nullable=True
    )
    time_basis = c.choice("Clock of start and end.", ("gpu", "cpu"))
    state = c.choice("How far it got.", ("scheduled", "started", "completed"))
