"""Medians of the own work of ranks, over steps that lie side by side or in rows."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis._step_rollup_columns import median_ns

#: An attempt and the start of an hour. [ns]
Hour = tuple[int | None, int]


@dataclass(frozen=True, slots=True)
class WorkOfRanks:
    """Own work of the same ranks in some steps of an hour.

    Attributes:
        ranks: The ranks, sorted.
        work_ns: Own work, steps by ranks. [ns]
    """

    ranks: np.ndarray
    work_ns: np.ndarray


def medians_of(hour: Hour, pieces: list[WorkOfRanks | pl.DataFrame]) -> pl.DataFrame:
    """Return the median of the own work of each rank in an hour."""
    blocks = [piece for piece in pieces if isinstance(piece, WorkOfRanks)]
    are_alike = all(np.array_equal(b.ranks, blocks[0].ranks) for b in blocks[1:])
    if len(blocks) == len(pieces) and are_alike:
        found = _medians_of_blocks(blocks)
    else:
        rows = [_as_rows(p) if isinstance(p, WorkOfRanks) else p for p in pieces]
        found = (
            pl.concat(rows)
            .group_by("rank")
            .agg(
                median_ns("work_ns").alias("typical_work_ns"),
                pl.len().cast(pl.Int64).alias("median_steps"),
            )
        )
    attempt, hour_ns = hour
    return found.select(
        pl.lit(attempt, pl.Int32).alias("attempt"),
        pl.lit(hour_ns, pl.Int64).alias("hour_ns"),
        *["rank", "typical_work_ns", "median_steps"],
    )


def _medians_of_blocks(blocks: list[WorkOfRanks]) -> pl.DataFrame:
    together = np.concatenate([block.work_ns for block in blocks])
    by_rank = np.ascontiguousarray(together.T)
    return pl.DataFrame(
        {
            "rank": blocks[0].ranks,
            "typical_work_ns": medians(by_rank),
            "median_steps": np.full(by_rank.shape[0], by_rank.shape[1], np.int64),
        }
    )


def medians(values: np.ndarray) -> np.ndarray:
    """Return the median of each row in whole nanoseconds, rounded down. [ns]"""
    count = values.shape[1]
    low, high = (count - 1) // 2, count // 2
    ordered = np.partition(values, sorted({low, high}), axis=1)
    middle: np.ndarray = (ordered[:, low] + ordered[:, high]) // 2
    return middle


def _as_rows(block: WorkOfRanks) -> pl.DataFrame:
    steps = block.work_ns.shape[0]
    ranks = np.tile(block.ranks, steps)
    return pl.DataFrame({"rank": ranks, "work_ns": block.work_ns.ravel()})
