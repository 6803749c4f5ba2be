"""One row per timer or reading of a training log: of a rank, or an extreme."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class Timers(Table):
    """One row per timer or reading of a training log: of a rank, or an extreme."""

    key: ClassVar = (
        "run_id",
        "attempt",
        "step",
        "name",
        "statistic",
        "rank",
        "time_ns",
        "occurrence",
    )
    day_column: ClassVar = "time_ns"

    file_id = c.identifier("File that the row was read from.")
    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index(
        "Attempt of the run; null where only the time can tell.", nullable=True
    )
    step = c.number("Optimizer step; null where none was logged before.", nullable=True)
    time_ns = c.time_ns("When it was logged.", nullable=True)
    name = c.identifier("Name of the timer or reading, in the source's words.")
    statistic = c.choice(
        "Whose value it is: a rank's, or the least or greatest over the ranks.",
        ("rank", "min", "max"),
    )
    rank = c.index("Global rank that has the value, where it is told.", nullable=True)
    duration_ns = c.duration_ns("Value of a timer.", nullable=True)
    value = c.real("Value of a reading that is no time.", nullable=True)
    value_unit = c.identifier("Unit of the reading.", nullable=True)
    occurrence = c.index("Position among rows that are otherwise alike in one file.")
