"""Lakes of steps, drawn."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ingest import staging
from ingest.lake import open_writer
from ingest.tables import StepTimings, Table
from tests.analysis.drawn_steps import MIDNIGHT_NS, framed

SECOND = 1_000_000_000


def bring(
    root: Path, logs: Sequence[pl.DataFrame], table: type[Table] = StepTimings
) -> None:
    """Write each log as parts of its own; nothing is in columns that it has not."""
    empty = table.create_empty()
    with open_writer(root) as writer:
        parts = [
            part
            for log in logs
            for part in staging.write_parts(
                root, table, pl.concat([empty, log], how="diagonal_relaxed"), "raw"
            )
        ]
        writer.commit_rollups(parts)


def steady(steps: int, ranks: int = 3, first_ns: int = MIDNIGHT_NS) -> pl.DataFrame:
    """Steps of 5 s of which the last rank works 4, the others 3 and wait; 6 s apart."""
    return framed(
        [
            {"attempt": 0, "step": step, "rank": rank, "duration_ns": 5 * SECOND}
            | {"start_ns": first_ns + 6 * step * SECOND, "compute_ns": 3 * SECOND}
            | {"wait_ns": SECOND if rank < ranks - 1 else 0}
            for step in range(steps)
            for rank in range(ranks)
        ]
    )
