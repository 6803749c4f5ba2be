"""One row per traced training operation."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class Operations(Table):
    """One row per traced training operation."""

    key: ClassVar = (
        "run_id",
        "attempt",
        "trace_id",
        "step",
        "rank",
        "kind",
        "microbatch",
        "chunk",
        "sequence",
    )
    day_column: ClassVar = "start_ns"

    file_id = c.identifier("File that the row was read from.")
    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index(
        "Attempt of the run; null where only the time can tell.", nullable=True
    )
    trace_id = c.identifier("Trace that the operation was seen in.")
    step = c.number("Optimizer step.")
    rank = c.index("Global rank.")
    dp_rank = c.index("Data-parallel replica.", nullable=True)
    pp_rank = c.index("Pipeline stage.", nullable=True)
    tp_rank = c.index("Position in the tensor-parallel group.", nullable=True)
    kind = c.identifier("Kind of operation, in the source's words.")
    microbatch = c.index("Micro-batch.", nullable=True)
    chunk = c.index("Virtual pipeline chunk.", nullable=True)
    sequence = c.number("Order among equal operations.", nullable=True)
    start_ns = c.time_ns(
        "Start of the operation; null where nothing sets it on a calendar.",
        nullable=True,
    )
    offset_ns = c.duration_ns(
        "Start since the beginning of its step or trace, where only that is told.",
        nullable=True,
    )
    duration_ns = c.length_ns("Length of the operation.")
