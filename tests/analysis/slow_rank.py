"""A run with one slow rank, and what is said of its causes."""

from typing import Any

import polars as pl

from analysis import Results
from analysis.gpus import Gpus
from analysis.stragglers import StragglerEvidence, StragglerRanks
from ingest.tables import StepTimings, Table
from tests.analysis.fleets import Times, found, healthy, seats, step_log

RANKS, STEPS, SLOW = 16, 60, 5


def search(
    work: Times, *frames: tuple[type[Table], pl.DataFrame], **told: Any
) -> Results:
    where = seats(
        RANKS,
        lambda rank: {
            "cluster": "pod",
            "host": f"node-{rank // 8}",
            "local_rank": rank % 8,
            "gpu_uuid": f"GPU-{rank}",
            "nic": f"mlx5_{rank % 8}",
        },
    )
    return found((StepTimings, step_log(work, **told)), (Gpus, where), *frames)


def slow_work() -> Times:
    work = healthy(RANKS, STEPS, 1)
    work[:, SLOW] *= 1.2
    return work


def cause(results: Results) -> str:
    (row,) = results[StragglerRanks].to_dicts()
    assert row["rank"] == SLOW
    return str(row["cause"])


def rung(results: Results, cause: str) -> dict[str, Any]:
    rows = results[StragglerEvidence].filter(pl.col("cause") == cause)
    return rows.to_dicts()[0]
