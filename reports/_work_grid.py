"""How many ranks and steps a cell of a field holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from reports._words import plural

#: Most rows and columns: cells that are still seen on a phone.
_MOST_ROWS: Final = 32
_MOST_BINS: Final = 60


@dataclass(frozen=True, slots=True)
class Grid:
    """A field of one run.

    Attributes:
        run_id: The run.
        ranks: Its ranks. [1]
        steps: Its steps. [1]
        height: Ranks of a row. [1]
        width: Steps of a column. [1]
    """

    run_id: str
    ranks: int
    steps: int
    height: int
    width: int

    @property
    def who(self) -> str:
        """What a row is, in a title."""
        if self.height == 1:
            return "each rank"
        return f"ranks, the slowest of {self.height} each"

    @property
    def sample(self) -> str:
        """What is drawn, and how much of it a cell is."""
        rows = (
            f"; a row is {self.height} ranks, the slowest of them drawn"
            if self.height > 1
            else ""
        )
        return (
            f"{plural(self.ranks, 'rank')}, {plural(self.steps, 'step')}, a column is"
            f" {plural(self.width, 'step')}{rows}; the run on this page that"
            " paid for the most GPU time"
        )


def grid_of(sizes: pl.DataFrame, order: Sequence[str]) -> Grid | None:
    """Return the field of the first run that is known, else of the first by name.

    Args:
        sizes: A row for each run: run_id, ranks, steps, top (above the highest rank),
            first and last (step). [1]
        order: Runs, the dearest first.
    """
    known = {row["run_id"]: row for row in sizes.to_dicts()}
    runs = [run for run in order if run in known] or sorted(known)
    if not runs:
        return None
    row = known[runs[0]]
    width = -(-(row["last"] - row["first"] + 1) // _MOST_BINS)
    height = -(-row["top"] // _MOST_ROWS)
    return Grid(runs[0], row["ranks"], row["steps"], height, width)
