"""One row per save or load of a checkpoint."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class Checkpoints(Table):
    """One row per save or load of a checkpoint."""

    key: ClassVar = ("run_id", "attempt", "kind", "step", "start_ns", "rank")
    day_column: ClassVar = "start_ns"

    file_id = c.identifier("File that the row was read from.")
    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index(
        "Attempt of the run; null where only the time can tell.", nullable=True
    )
    rank = c.index("Global rank; null where the row is for all ranks.", nullable=True)
    kind = c.choice("What was done.", ("save", "load"))
    step = c.number("Step of the state.", nullable=True)
    start_ns = c.time_ns("Start.")
    duration_ns = c.duration_ns("Time until it was done.", nullable=True)
    stall_ns = c.duration_ns("Time that training stood still.", nullable=True)
    durable_ns = c.time_ns("When the state was safe.", nullable=True)
    bytes = c.size_bytes("Amount of state.", nullable=True)
    tier = c.identifier("Where it went.", nullable=True)
    data_position = c.number(
        "Position in the data set that the state belongs to.", nullable=True
    )
