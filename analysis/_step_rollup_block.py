"""Steps of a window in which every rank tells every step once.

Then columns are matrices, steps by ranks, and sums over ranks and over hours are sums
over one side or the other. What does not fit is left to the general way.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from analysis._step_rollup_columns import PARTS

Matrix = np.ndarray

#: Columns that must be told of every row.
_NEEDED: Final = ("step", "rank", "start_ns", "duration_ns")


@dataclass(frozen=True, slots=True)
class Told:
    """A column that some rows may not tell.

    Attributes:
        values: Its values, zero where it is not told; None where no row tells it.
        known: Where it is told; None where that is everywhere.
    """

    values: Matrix | None
    known: Matrix | None

    def total(self, axis: int) -> pl.Series:
        """Add it up over steps (0) or ranks (1); null where nothing is told."""
        if self.values is None:
            return pl.Series([None], dtype=pl.Int64)
        return self._where_told(self.values.sum(axis=axis), axis)

    def greatest(self) -> pl.Series:
        """Return the greatest of each step; null where nothing is told."""
        if self.values is None:
            return pl.Series([None], dtype=pl.Int64)
        return self._where_told(self.values.max(axis=1), 1)

    def ranks(self) -> pl.Series:
        """Count the ranks that tell it, in each step."""
        if self.values is None:
            return pl.Series([0], dtype=pl.Int64)
        if self.known is None:
            return pl.Series([self.values.shape[1]], dtype=pl.Int64)
        return pl.Series(self.known.sum(axis=1, dtype=np.int64))

    def of(self, steps: slice) -> "Told":
        """Return it of some steps."""
        values = None if self.values is None else self.values[steps]
        return Told(values, None if self.known is None else self.known[steps])

    def _where_told(self, values: Matrix, axis: int) -> pl.Series:
        found = pl.Series(values)
        if self.known is None:
            return found
        return found.set(~pl.Series(self.known.any(axis=axis)), None)


@dataclass(frozen=True, slots=True)
class Block:
    """Steps that the same ranks tell, each once.

    Attributes:
        attempt: Their attempt.
        steps: The steps.
        ranks: The ranks of the first, sorted.
        is_alike: Which steps have those ranks.
        start_ns: Starts, steps by ranks. [ns]
        duration_ns: Wall times. [ns]
        end_ns: Ends, over all steps that a row averages over. [ns]
        work_ns: Own work of each rank; None where no wait is told. [ns]
        step_count: Steps that each row averages over.
        told: The parts of each, and tokens.
        words: wait_scope and clock, which are those of all rows.
    """

    attempt: int | None
    steps: np.ndarray
    ranks: np.ndarray
    is_alike: np.ndarray
    start_ns: Matrix
    duration_ns: Matrix
    end_ns: Matrix
    work_ns: Matrix | None
    step_count: int
    told: dict[str, Told]
    words: dict[str, str | None]


def part_blocks(window: pl.DataFrame) -> tuple[Block | None, pl.DataFrame]:
    """Take the steps out of a window that the same ranks tell, each rank once.

    Args:
        window: Rows of one attempt, sorted by step and rank.

    Returns:
        The block, and the rows that are not in it.
    """
    if not _may_be_dense(window):
        return None, window
    steps = window["step"].to_numpy()
    first = np.flatnonzero(np.diff(steps, prepend=steps[0] - 1))
    lengths = np.diff(first, append=len(steps))
    usual = int(np.bincount(lengths).argmax())
    fits = lengths == usual
    chosen, others = _parted(window, fits, lengths)
    block = _block(chosen, usual)
    alike = _are_alike(block)
    if alike.all():
        return block, others
    block_window, more = _parted(chosen, alike, np.full(len(alike), usual))
    others = pl.concat([others, more])
    return (_block(block_window, usual) if alike.any() else None), others


def _parted(
    rows: pl.DataFrame, fits: np.ndarray, lengths: np.ndarray
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Part the rows of some steps from those of the others."""
    if fits.all():
        return rows, rows.clear()
    chosen = pl.Series(np.repeat(fits, lengths))
    return rows.filter(chosen), rows.filter(~chosen)


def _may_be_dense(window: pl.DataFrame) -> bool:
    """Whether what every row must tell is told, and what must be one is one."""
    if window.is_empty():
        return False
    missing = window.null_count().row(0, named=True)
    if any(missing[name] for name in _NEEDED):
        return False
    # as expressions, so that what is said once of all rows is not written out for each
    same = [
        pl.col(name).eq_missing(pl.col(name).first()).all()
        for name in ("attempt", "scope", "wait_scope", "clock", "step_count")
    ]
    is_one = window.select(pl.all_horizontal(same)).item()
    waits = missing["wait_ns"]
    return bool(
        is_one and waits in {0, window.height} and _said(window)["scope"] == "rank"
    )


def _said(window: pl.DataFrame) -> dict[str, Any]:
    """Return the first row."""
    return window.head(1).row(0, named=True)


def _are_alike(block: Block) -> np.ndarray:
    """Tell which steps have the ranks of the first, at one time.

    No rank may start so late after another has ended that it could be the same step,
    done again.
    """
    if not (np.diff(block.ranks) > 0).all():
        return np.zeros(len(block.steps), bool)
    longest = block.duration_ns.max(axis=1) * block.step_count
    apart = block.start_ns.max(axis=1) - block.end_ns.min(axis=1)
    return np.asarray(block.is_alike & (apart <= longest))


def _block(window: pl.DataFrame, size: int) -> Block:
    shape = (window.height // size, size)

    def matrix(name: str) -> Matrix:
        return np.asarray(window[name].to_numpy().reshape(shape))

    def told(name: str) -> Told:
        missing = window[name].null_count()
        if missing == window.height:
            return Told(None, None)
        if not missing:
            return Told(matrix(name), None)
        values = window[name].fill_null(0).to_numpy().reshape(shape)
        known = window[name].is_not_null().to_numpy().reshape(shape)
        return Told(values, known)

    ranks, start_ns, duration_ns = map(matrix, ("rank", "start_ns", "duration_ns"))
    said = _said(window)
    step_count = int(said["step_count"] or 1)
    parts = {name: told(name) for name in (*PARTS, "tokens")}
    return Block(
        attempt=said["attempt"],
        steps=matrix("step")[:, 0].copy(),
        ranks=ranks[0].copy(),
        is_alike=(ranks == ranks[0]).all(axis=1),
        start_ns=start_ns,
        duration_ns=duration_ns,
        end_ns=start_ns + (duration_ns * step_count if step_count > 1 else duration_ns),
        work_ns=_own_work(duration_ns, parts["wait_ns"].values),
        step_count=step_count,
        told=parts,
        words={name: said[name] for name in ("wait_scope", "clock")},
    )


def _own_work(duration_ns: Matrix, wait_ns: Matrix | None) -> Matrix | None:
    if wait_ns is None:
        return None
    work: Matrix = duration_ns - wait_ns
    np.maximum(work, 0, out=work)
    return work
