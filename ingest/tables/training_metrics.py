"""One row per step with what the optimizer saw."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class TrainingMetrics(Table):
    """One row per step with what the optimizer saw."""

    key: ClassVar = ("run_id", "attempt", "step")
    day_column: ClassVar = "time_ns"

    file_id = c.identifier("File that the row was read from.")
    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index(
        "Attempt of the run; null where only the time can tell.", nullable=True
    )
    step = c.number("Optimizer step.")
    time_ns = c.time_ns("When it was logged.", nullable=True)
    loss = c.real("Training loss.", nullable=True)
    loss_is_finite = c.flag(
        "Whether the loss was a finite number; null where none was logged.",
        nullable=True,
    )
    grad_norm = c.real("Norm of the gradient.", nullable=True)
    skipped = c.flag("Whether the step was skipped.", nullable=True)
