"""How many ranks and steps a cell of a field holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

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
