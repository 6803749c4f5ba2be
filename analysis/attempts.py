"""One row per attempt of a run."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class Attempts(Table):
    """One row per attempt of a run."""

    key: ClassVar = ("run_id", "attempt")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    cluster = c.identifier("Cluster that it ran on.", nullable=True)
    job_id = c.identifier("Scheduler job, where one is known.", nullable=True)
    basis = c.choice(
        "What the start and end were taken from.", ("jobs", "steps", "traces")
    )
    state = c.identifier("State that the job ended in.", nullable=True)
    submit_ns = c.time_ns("When it was submitted or requeued.", nullable=True)
    start_ns = c.time_ns("When it started.")
    end_ns = c.time_ns("When it ended; the last time seen while it runs.")
    is_running = c.flag("Whether it had not ended when last seen.")
    first_step = c.number("First step that it completed.", nullable=True)
    last_step = c.number("Last step that it completed.", nullable=True)
    last_step_end_ns = c.time_ns(
        "End of the last step that every rank completed.", nullable=True
    )
    resumed_step = c.number(
        "Step that it resumed from, where it repeats any.", nullable=True
    )
    gpu_count = c.count("GPUs that it held.", nullable=True)
    hosts = c.text("Nodes that it held, separated by commas.")
