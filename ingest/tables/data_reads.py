"""One row per batch given to a rank."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class DataReads(Table):
    """One row per batch given to a rank."""

    key: ClassVar = ("run_id", "attempt", "step", "rank", "dataset", "sample_from")
    day_column: ClassVar = "time_ns"

    file_id = c.identifier("File that the row was read from.")
    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index(
        "Attempt of the run; null where only the time can tell.", nullable=True
    )
    step = c.number("Optimizer step.")
    rank = c.index("Global rank.")
    dp_rank = c.index("Data-parallel replica.", nullable=True)
    dataset = c.identifier("Data set.", nullable=True)
    epoch = c.number("Pass over the data set.", nullable=True)
    sample_from = c.number("First sample.", nullable=True)
    sample_to = c.number("Sample after the last.", nullable=True)
    batch_hash = c.identifier("Hash of the batch.", nullable=True)
    tokens = c.number("Tokens of the batch.", nullable=True)
    tokens_squared = c.number("Sum of the squares of document lengths.", nullable=True)
    longest_document = c.number("Tokens of the longest document.", nullable=True)
    time_ns = c.time_ns("When it was given.", nullable=True)
