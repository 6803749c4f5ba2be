"""The steps about spells, read again."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from analysis._rollup import Day
from analysis._straggler_day_grid import grid_of
from analysis._straggler_day_pieces import (
    COLUMNS,
    Piece,
    by_attempt,
    piece_of,
    told,
)
from analysis._straggler_day_rows import PARTS, Near, Seated, of_rows
from analysis._straggler_day_slow import of_grid
from analysis._straggler_middle import Whole
from analysis._threads import in_threads

#: Blocks between two stretches that are read with them.
_GAP: Final = 6


@dataclass(frozen=True, slots=True)
class DaySteps:
    """The steps of a run and day, to be read in part.

    Attributes:
        day: The raw rows.
        attempts: Rows of Attempts.
        columns: Blocks of the day, in order.
        seated: Where ranks sit, and how they are compared.
    """

    day: Day
    attempts: pl.LazyFrame
    columns: pl.DataFrame
    seated: Seated

    def near(self, bounds: pl.DataFrame, ranks: Whole) -> Iterator[Near]:
        """Yield the steps of the blocks within bounds, compared.

        Args:
            bounds: Columns `place_from` and `place_to`.
            ranks: Ranks of slow things, in order.
        """

        def compared(piece: Piece) -> Near:
            return self._compared(piece, ranks)

        yield from in_threads(compared, self._pieces(bounds), self.day.jobs)

    def _compared(self, piece: Piece, ranks: Whole) -> Near:
        grid = grid_of(piece)
        seated = self.seated
        if grid is not None and grid.has_peers_at_work():
            near = of_grid(piece, grid, ranks, seated)
        else:
            near = of_rows(piece, ranks, seated)
        of_attempt = self.columns.filter(pl.col("attempt") == piece.attempt)
        first = of_attempt["first_step"].to_numpy()

        def named(rows: pl.DataFrame) -> pl.DataFrame:
            at = np.searchsorted(first, rows["step"].to_numpy(), side="right") - 1
            run = pl.lit(self.day.owner).alias("run_id")
            return rows.with_columns(run, of_attempt["block"][at])

        return Near(named(near.units), named(near.stages), near.others)

    def _pieces(self, bounds: pl.DataFrame) -> Iterator[Piece]:
        for blocks in self._stretches(bounds):
            attempt = int(blocks["attempt"][0])
            first, last = int(blocks["first_step"][0]), int(blocks["last_step"][-1])
            for window in self.day.read([*COLUMNS, *PARTS], (first, last)):
                near = told(window, self.day.owner, self.attempts)
                for rows in by_attempt(near):
                    mine = _within(rows, first, last)
                    if mine.height and rows["attempt"][0] == attempt:
                        yield piece_of(mine, attempt, 0)

    def _stretches(self, bounds: pl.DataFrame) -> list[pl.DataFrame]:
        place = self.columns["place"].to_numpy()
        wanted = np.zeros(len(place) + 1, np.int64)
        first = np.searchsorted(place, bounds["place_from"].to_numpy())
        last = np.searchsorted(place, bounds["place_to"].to_numpy(), side="right")
        np.add.at(wanted, first, 1)
        np.add.at(wanted, last, -1)
        at = np.flatnonzero(np.cumsum(wanted)[:-1])
        if not len(at):
            return []
        attempt = self.columns["attempt"].to_numpy()[at]
        apart = (np.diff(at) > _GAP) | (np.diff(attempt) > 0)
        groups = np.split(at, np.flatnonzero(apart) + 1)
        return [self.columns[int(g[0]) : int(g[-1]) + 1] for g in groups]


def _within(rows: pl.DataFrame, first: int, last: int) -> pl.DataFrame:
    step = rows["step"]
    if int(str(step.min())) >= first and int(str(step.max())) <= last:
        return rows
    return rows.filter(pl.col("step").is_between(first, last))
