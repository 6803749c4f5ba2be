"""One row per rank with what collectives tell of its arrivals."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class LateRanks(Table):
    """One row per rank with what collectives tell of its arrivals."""

    key: ClassVar = ("run_id", "attempt", "rank")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    rank = c.index("Global rank.")
    collectives_count = c.count(
        "Complete collectives with a last arrival that the rank took part in."
    )
    last_count = c.count("Collectives that it arrived last in.")
    expected_count = c.quantity(
        "Collectives that it would have arrived last in by chance.", "1"
    )
    wait_ns = c.duration_ns("Its waits together.")
    late_ns = c.duration_ns(
        "How much later than the next-to-last it arrived, together."
    )
    p_value = c.real("Chance of being last so often among equal ranks.")
    is_late = c.flag(
        "Whether that is beyond chance, over all ranks of the attempt together."
    )
