"""One row per attempt of a scheduler job."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class Jobs(Table):
    """One row per attempt of a scheduler job."""

    key: ClassVar = (
        "cluster",
        "scheduler_cluster",
        "job_id",
        "submit_ns",
        "start_ns",
    )
    day_column: ClassVar = "start_ns"

    file_id = c.identifier("File that the row was read from.")
    cluster = c.identifier("Cluster that scheduled the job.")
    scheduler_cluster = c.identifier(
        "Cluster as the scheduler names it; null where its listing does not.",
        nullable=True,
    )
    run_id = c.identifier(
        "Run that the job belongs to, where it is known.", nullable=True
    )
    job_id = c.identifier("Job.")
    job_name = c.text("Name of the job.")
    restart_count = c.count("Times that the job had been started before.")
    submit_ns = c.time_ns("When the job was submitted or requeued.", nullable=True)
    eligible_ns = c.time_ns("When the job could have started.", nullable=True)
    start_ns = c.time_ns(
        "When the job started; null where it never did.", nullable=True
    )
    end_ns = c.time_ns("When the job ended; null while it runs.", nullable=True)
    state = c.identifier(
        "State in the scheduler's words, without whom it was cancelled by."
    )
    exit_code = c.number("Exit code of the job.", nullable=True)
    exit_signal = c.number("Signal that ended the job.", nullable=True)
    reason = c.text("Reason in the scheduler's words.")
    qos = c.identifier("Quality of service.", nullable=True)
    account = c.identifier("Account.", nullable=True)
    node_count = c.count("Nodes of the job.", nullable=True)
    gpu_count = c.count("GPUs of the job.", nullable=True)
    hosts = c.text("Nodes of the job, separated by commas.")
    cancelled_by = c.identifier("User who cancelled it.", nullable=True)
    time_quality = c.choice("How the times are known.", ("exact", "zone_assumed"))
