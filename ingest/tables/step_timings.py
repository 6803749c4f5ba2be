"""One row per rank and step, or per step of a source's average (see scope)."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from ingest.tables import _columns as c
from ingest.tables._table import Table

#: What a source that rounds may be off, at each part of a step: it tells whole
#: milliseconds at the coarsest. [ns]
ROUNDED_NS: Final = 1_000_000

#: The same, over the step: percentages, and averages of several steps. [1]
ROUNDED_RATIO: Final = 0.01

_PARTS: Final = (
    *("compute_ns", "communication_ns", "wait_ns"),
    *("data_ns", "checkpoint_ns"),
)


class StepTimings(Table):
    """One row per rank and step, or per step of a source's average (see scope)."""

    key: ClassVar = ("run_id", "attempt", "step", "rank", "scope", "start_ns")
    day_column: ClassVar = "start_ns"

    file_id = c.identifier("File that the row was read from.")
    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index(
        "Attempt of the run; null where only the time can tell.", nullable=True
    )
    step = c.number("Optimizer step.")
    rank = c.index(
        "Global rank; null where the source gives an average or does not tell.",
        nullable=True,
    )
    start_ns = c.time_ns(
        "Start of the step; null where the source gives no time: no analysis uses it;"
        " before 2000 where the trace counts from a moment of its own.",
        nullable=True,
    )
    duration_ns = c.length_ns("Wall time of the step.")
    compute_ns = c.duration_ns("Time in own work that blocked the step.", nullable=True)
    communication_ns = c.duration_ns(
        "Time that only communication took, without waiting.", nullable=True
    )
    wait_ns = c.duration_ns("Time spent waiting for other ranks.", nullable=True)
    data_ns = c.duration_ns(
        "Time that the step was blocked on its input.", nullable=True
    )
    checkpoint_ns = c.duration_ns(
        "Time that the step was blocked on a checkpoint.", nullable=True
    )
    wait_scope = c.choice("Which waits the source sees.", ("dp", "all"), nullable=True)
    clock = c.choice("Clock of the time stamps.", ("host", "device"))
    scope = c.choice(
        "What the row describes: a rank, or the mean over the run.",
        ("rank", "run_mean"),
    )
    step_count = c.count("Steps that the row averages over.")
    tokens = c.number("Tokens that the rank trained on in the step.", nullable=True)

    @dy.rule()
    def parts_exceed_duration(cls) -> pl.Expr:  # noqa: N805 - of the class
        """Hold the parts of a step against its duration: they share no time.

        As floats, so that no sum leaves 64 bits.
        """
        parts = pl.sum_horizontal(pl.col(_PARTS).cast(pl.Float64))
        counted = pl.sum_horizontal(pl.col(_PARTS).is_not_null().cast(pl.Float64))
        step = pl.col("duration_ns").cast(pl.Float64).clip(0)
        most = step + pl.max_horizontal(ROUNDED_RATIO * step, ROUNDED_NS * counted)
        return parts <= most
