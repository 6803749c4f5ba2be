"""Answers to what-if questions about runs made up for tests."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from analysis._analysis import Frames
from analysis._repairs_grammar import parse
from analysis.whatif import answer_fixes, answer_repairs
from ingest.tables import StepTimings, Table
from tests.analysis.fleets import START_NS, table

MS = 1_000_000

Given = tuple[type[Table], pl.DataFrame]


def frames_of(*given: Given) -> Frames:
    """Frames of some tables."""
    return Frames({of: rows.lazy() for of, rows in given})


def steps_of(works: Sequence[Sequence[int]], **told: Any) -> pl.DataFrame:
    """A step log: each step's own work by rank; all wait for the slowest. [ms]

    Args:
        works: Own work of each step and rank.
        told: Columns to add; of lists those by step and rank, one after the other.
    """
    rows = [
        {
            "file_id": "log",
            "run_id": "run",
            "attempt": 0,
            "step": step,
            "rank": rank,
            "start_ns": START_NS + step * 1_000 * MS,
            "duration_ns": max(work) * MS,
            "wait_ns": (max(work) - own) * MS,
            "wait_scope": "all",
            "clock": "host",
            "scope": "rank",
            "step_count": 1,
        }
        for step, work in enumerate(works)
        for rank, own in enumerate(work)
    ]
    columns = pl.DataFrame(rows).with_columns(
        pl.Series(name, value) if isinstance(value, list) else pl.lit(value).alias(name)
        for name, value in told.items()
    )
    return table(StepTimings, columns)


def ask(
    texts: Sequence[str], *given: Given
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Answers by the text of their repair, and what was refused."""
    repairs = [parse(text) for text in texts]
    rows, refused = answer_fixes(frames_of(*given), "run", repairs, {})
    return {row["repair"]: row for row in rows.to_dicts()}, refused


def saved_ms(row: dict[str, Any]) -> float:
    """GPU time that an answer saves. [ms]"""
    return float(row["saved_gpu_ns"]) / MS


def nightly(*given: Given) -> dict[str, dict[str, Any]]:
    """Every answer that is computed without being asked, by its repair."""
    return {row["repair"]: row for row in answer_repairs(frames_of(*given)).to_dicts()}
