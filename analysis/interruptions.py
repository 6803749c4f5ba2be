"""One row per interruption of a run."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class Interruptions(Table):
    """One row per interruption of a run."""

    key: ClassVar = ("run_id", "attempt")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    incident_id = c.identifier(
        "Incident that it is attributed to; null: unattributed.", nullable=True
    )
    planned = c.flag("Whether it was meant.")
    component = c.identifier("Component at fault.", nullable=True)
    category = c.choice(
        "Whose it is.",
        ("hardware", "network", "software", "user", "scheduler", "unattributed"),
    )
    cause = c.text("Cause in words.")
    last_step_end_ns = c.time_ns(
        "End of the last step that every rank completed.", nullable=True
    )
    detected_ns = c.time_ns("First sign of the incident.", nullable=True)
    decided_ns = c.time_ns("End of the attempt.", nullable=True)
    requeued_ns = c.time_ns("When the next attempt was submitted.", nullable=True)
    started_ns = c.time_ns("Start of the next attempt.", nullable=True)
    first_step_ns = c.time_ns("Start of the first new step.", nullable=True)
    lost_steps = c.number("Steps that were done again.", nullable=True)
