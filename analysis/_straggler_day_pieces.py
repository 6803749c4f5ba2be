"""The steps of one run and day, in pieces of whole blocks of an attempt."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis._rollup import Day
from analysis.placing import place
from ingest.tables import StepTimings

#: What is read of a step of a rank to compare it.
COLUMNS: Final = (
    "attempt",
    "step",
    "rank",
    "start_ns",
    "duration_ns",
    "wait_ns",
    "wait_scope",
    "scope",
)


@dataclass(frozen=True, slots=True)
class Piece:
    """Steps of ranks of one attempt whose wait is known, in order.

    Attributes:
        rows: One row for each rank and step.
        attempt: The attempt.
        number: How many steps of the attempt came before on this day. [1]
        steps: The steps of the piece.
        starts: First row of each step, and their number.
    """

    rows: pl.DataFrame
    attempt: int
    number: int
    steps: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]


def told(window: pl.DataFrame, owner: str, attempts: pl.LazyFrame) -> pl.DataFrame:
    """Return steps of ranks whose wait is known, in order, each with its attempt.

    Args:
        window: Raw rows with COLUMNS at least.
        owner: Their run.
        attempts: Rows of Attempts, for steps that do not tell theirs.
    """
    rows = _of_ranks(window)
    if not _missing(rows, "attempt"):
        return rows
    named = rows.lazy().with_columns(run_id=pl.lit(owner))
    of_run = attempts.filter(pl.col("run_id") == owner)
    placed = place(named, of_run, "start_ns").select(rows.columns).collect()
    return placed.sort("attempt", "step", "rank", "start_ns")


def _of_ranks(window: pl.DataFrame) -> pl.DataFrame:
    """Leave out what is no step of a rank, or has no wait or start."""
    whole = ("rank", "wait_ns", "start_ns")
    # as expressions, so that what is said once of all rows is not written out for each
    is_rank = window.select((StepTimings.scope.col == "rank").all()).item()
    if is_rank and not _missing(window, *whole):
        return window
    known = pl.all_horizontal(pl.col(name).is_not_null() for name in whole)
    return window.filter((StepTimings.scope.col == "rank") & known)


def _missing(rows: pl.DataFrame, *names: str) -> bool:
    """Return whether a column has no value in some row."""
    told = rows.select(pl.col(names).null_count())
    return any(told.row(0))


def _ranks_of(window: pl.DataFrame) -> list[int]:
    of_ranks = window.filter(StepTimings.scope.col == "rank")
    return of_ranks["rank"].drop_nulls().unique().to_list()


@dataclass(slots=True)
class _Held:
    """Rows that wait for the rest of their block, and the steps before them."""

    rows: dict[int, pl.DataFrame] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)

    def cut(self, attempt: int, rows: pl.DataFrame, unit: int) -> Piece | None:
        """Return what is whole of some rows and those before; keep the rest."""
        kept = self.rows.pop(attempt, None)
        joined = rows if kept is None else pl.concat([kept, rows], rechunk=True)
        piece = piece_of(joined, attempt, self.steps.get(attempt, 0))
        whole = len(piece.steps) // unit * unit
        if whole < len(piece.steps):
            self.rows[attempt] = joined[int(piece.starts[whole]) :]
        if not whole:
            return None
        self.steps[attempt] = piece.number + whole
        end = int(piece.starts[whole])
        starts = piece.starts[: whole + 1]
        return Piece(joined[:end], attempt, piece.number, piece.steps[:whole], starts)

    def rest(self, before: int | None = None) -> Iterator[Piece]:
        """Yield what waits, of attempts before one, or of all."""
        for attempt in sorted(self.rows):
            if before is None or attempt < before:
                rows = self.rows.pop(attempt)
                yield piece_of(rows, attempt, self.steps.get(attempt, 0))


def pieces(
    day: Day, attempts: pl.LazyFrame, unit_steps: int, ranks: set[int]
) -> Iterator[Piece]:
    """Yield all steps of a day, cut between blocks, whatever its windows are.

    Args:
        day: The raw rows.
        attempts: Rows of Attempts.
        unit_steps: Steps that stay together, from the first of an attempt. [1]
        ranks: Filled with ranks of which some step may be in no piece.
    """
    held = _Held()
    for window in day.read(COLUMNS, None):
        is_ordered = not _missing(window, "attempt")
        known = told(window, day.owner, attempts)
        if known.height < window.height:
            ranks.update(_ranks_of(window))
        for rows in by_attempt(known):
            attempt = int(rows["attempt"][0])
            if is_ordered:
                yield from held.rest(attempt)
            piece = held.cut(attempt, rows, unit_steps)
            if piece is not None:
                yield piece
    yield from held.rest()


def by_attempt(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the rows of each attempt, in order."""
    if rows.is_empty():
        return []
    attempt = pl.col("attempt")
    if rows.select(attempt.min() == attempt.max()).item():
        return [rows]
    return rows.partition_by("attempt", maintain_order=True)


def piece_of(rows: pl.DataFrame, attempt: int, number: int) -> Piece:
    step = rows["step"].to_numpy()
    if np.any(step[1:] < step[:-1]):
        rows = rows.sort("step", "rank", "start_ns")
        step = rows["step"].to_numpy()
    inner = np.flatnonzero(step[1:] != step[:-1]) + 1
    starts = np.concatenate([[0], inner, [len(step)]]).astype(np.int64)
    return Piece(rows, attempt, number, step[starts[:-1]].astype(np.int64), starts)
