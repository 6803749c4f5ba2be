"""Dated traces of an attempt sorted into wholes: none has anything twice."""

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis._step_times import mark_copies, number_times

_RANK_STEP: Final = ("step", "rank")

_Numbers = npt.NDArray[np.int64]


class _Layer:
    """Traces that are parts of one whole, and what they have told of it."""

    def __init__(self, ranks_and_steps: int, steps: int) -> None:
        self.traces: list[str] = []
        self._told = np.zeros(ranks_and_steps, dtype=np.bool_)
        self._times = np.full(steps, -1, dtype=np.int64)

    def has_room(self, told: _Numbers, steps: _Numbers, times: _Numbers) -> bool:
        """Whether nothing is told already, and no step at another time."""
        known = self._times[steps]
        is_new = not bool(self._told[told].any())
        return is_new and bool(((known < 0) | (known == times)).all())

    def add(self, name: str, told: _Numbers, steps: _Numbers, times: _Numbers) -> None:
        """Add a trace."""
        self.traces.append(name)
        self._told[told] = True
        self._times[steps] = times


def layers_of(pieces: pl.DataFrame) -> list[tuple[str, ...]]:
    """Bring the traces of an attempt together that are parts of one.

    A trace joins the latest whole, of those begun before, which has nothing of it yet:
    what comes after a restart stays together. Of traces that begin together the one
    that tells most comes first.

    Args:
        pieces: What each trace has of each rank and step, all on the calendar: run_id,
            attempt, trace_id, rank, step, start_ns, end_ns and rows.

    Returns:
        Names of the traces of each whole, ascending.
    """
    clocked = pieces.lazy().with_columns(clock=pl.lit(None, pl.String))
    timed = mark_copies(number_times(clocked), _RANK_STEP).collect()
    is_one = not timed["is_copy"].any() and not (timed["time"] > 0).any()
    if is_one:
        return [tuple(timed["trace_id"].unique().sort())]
    layers: list[_Layer] = []
    numbered = _numbered(timed)
    sizes = [int(numbered[name].max() or 0) + 1 for name in ("told", "step")]  # type: ignore[arg-type]
    for (name,), rows in numbered.group_by("trace_id", maintain_order=True):
        has = [rows[one].to_numpy() for one in ("told", "step", "time")]
        free = next((one for one in reversed(layers) if one.has_room(*has)), None)
        if free is None:
            free = _Layer(*sizes)
            layers.append(free)
        free.add(str(name), *has)
    return [tuple(sorted(one.traces)) for one in layers]


def _numbered(timed: pl.DataFrame) -> pl.DataFrame:
    """Number ranks, steps and times; the traces in order of what they begin with."""
    order = [
        pl.col("start_ns").min().over("trace_id").alias("_first"),
        pl.col("rows").sum().over("trace_id").alias("_rows"),
    ]
    ordered = timed.with_columns(order).sort(
        *("_first", "_rows", "trace_id", "step", "time"),
        descending=[False, True, False, False, False],
    )
    dense = [
        pl.struct(_RANK_STEP).rank("dense").alias("told"),
        pl.col("step").rank("dense").alias("step"),
    ]
    return ordered.select(
        "trace_id",
        *[(one.cast(pl.Int64) - 1) for one in dense],
        time=pl.col("time"),
    )
