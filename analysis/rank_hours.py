"""One row per rank and hour of a run whose steps are condensed by day."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class RankHours(Table):
    """One row per rank and hour of a run whose steps are condensed by day.

    What is lost of the steps of an hour: which of them were slow. The spells of slow
    ranks are found before.
    """

    key: ClassVar = ("run_id", "attempt", "hour_ns", "rank")
    day_column: ClassVar = "hour_ns"

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index(
        "Attempt of the run; null where only the time can tell.", nullable=True
    )
    hour_ns = c.time_ns("Start of the UTC hour; a step is of the hour it starts in.")
    rank = c.index("Global rank.")
    steps = c.tally("Steps that the rank did; one that was done again counts again.")
    first_step = c.number("Lowest step.")
    last_step = c.number("Highest step.")
    start_ns = c.time_ns("Start of the first of them.")
    end_ns = c.time_ns("End of the last of them.")
    duration_ns_total = c.duration_ns("Wall time of the steps.")
    compute_ns_total = c.duration_ns("Time in own work, where told.", nullable=True)
    communication_ns_total = c.duration_ns(
        "Time that only communication took, where told.", nullable=True
    )
    wait_ns_total = c.duration_ns(
        "Time spent waiting for other ranks, where told.", nullable=True
    )
    data_ns_total = c.duration_ns(
        "Time that steps were blocked on their input, where told.", nullable=True
    )
    checkpoint_ns_total = c.duration_ns(
        "Time that steps were blocked on a checkpoint, where told.", nullable=True
    )
    known_steps = c.tally("Steps of which the wait is told, and so the own work.")
    typical_work_ns = c.duration_ns(
        "Median of its own work, which is duration less wait, over those steps, in"
        " whole nanoseconds.",
        nullable=True,
    )
    slowest_work_ns = c.duration_ns("Greatest own work of them.", nullable=True)
