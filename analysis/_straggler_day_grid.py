"""Steps by ranks as one array, where every step of a piece has the same ranks."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis._straggler_day_pieces import Piece
from analysis._straggler_middle import Whole

#: Stage of a rank whose stage is not known.
NO_STAGE: Final = -1

_MOST_NS: Final = 1 << 52


@dataclass(frozen=True, slots=True)
class Places:
    """Where the ranks of an attempt stand: the stage of each.

    Attributes:
        ranks: Ranks that are seated, in order.
        stages: Their stages, NO_STAGE where it is not known.
    """

    ranks: npt.NDArray[np.int64]
    stages: npt.NDArray[np.int64]

    @classmethod
    def of(cls, seats: pl.DataFrame, attempt: int) -> "Places":
        """Take the stages of an attempt from its seats."""
        told = seats.filter(pl.col("attempt") == attempt).sort("rank")
        stages = told["pp_rank"].cast(pl.Int64).fill_null(NO_STAGE)
        return cls(told["rank"].cast(pl.Int64).to_numpy(), stages.to_numpy())

    def stages_of(self, ranks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the stage of each rank."""
        if not len(self.ranks):
            return np.full(len(ranks), NO_STAGE)
        at = np.searchsorted(self.ranks, ranks).clip(0, len(self.ranks) - 1)
        return np.where(self.ranks[at] == ranks, self.stages[at], NO_STAGE)


@dataclass(frozen=True, slots=True)
class Grid:
    """Own work of ranks, step by step.

    Attributes:
        steps: The steps, in order.
        ranks: The ranks, in order.
        work_ns: Own work, steps by ranks. [ns]
        longest_ns: Length of each step. [ns]
    """

    steps: Whole
    ranks: Whole
    work_ns: Whole
    longest_ns: Whole

    def has_peers_at_work(self) -> bool:
        """Return whether no median of peers can be zero: then all have a ratio."""
        return bool(self.work_ns.min() > 0)


def grid_of(piece: Piece) -> Grid | None:
    """Return the steps of a piece as an array; None where steps differ in ranks.

    Waits of data parallelism alone, which separate replicas only, make none either.
    """
    steps, height = len(piece.steps), piece.rows.height
    if not steps or height % steps or np.any(np.diff(piece.starts) != height // steps):
        return None
    if piece.rows.select((pl.col("wait_scope") == "dp").any()).item():
        return None
    ranks = piece.rows["rank"].to_numpy().reshape(steps, -1)
    if np.any(ranks[0, 1:] <= ranks[0, :-1]) or np.any(ranks != ranks[0]):
        return None
    duration = piece.rows["duration_ns"].to_numpy().reshape(steps, -1)
    longest = duration.max(axis=1)
    if longest.max() > _MOST_NS:
        return None
    work = duration - piece.rows["wait_ns"].to_numpy().reshape(steps, -1)
    np.maximum(work, 0, out=work)
    return Grid(piece.steps, ranks[0].astype(np.int64), work, longest)


def slices(stages: Whole) -> tuple[Whole, list[tuple[int, int, int]]]:
    """Return an order of ranks by stage; and each stage with its bounds in it."""
    order = np.argsort(stages, kind="stable")
    names, firsts = np.unique(stages[order], return_index=True)
    ends = [*firsts[1:].tolist(), len(stages)]
    found = list(zip(names.tolist(), firsts.tolist(), ends, strict=True))
    return order, found
