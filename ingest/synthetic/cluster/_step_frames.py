"""Rows of `step_timings` from arrays of steps and ranks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from ingest.synthetic.cluster._felt import Ints
from ingest.tables import StepTimings

if TYPE_CHECKING:
    from ingest.synthetic.cluster.steps import StepWindow

#: Columns that are the same in each row.
_FIXED: Final = {
    "wait_scope": "all",
    "clock": "host",
    "scope": "rank",
    "step_count": 1,
    "tokens": None,
}


def frame_of(
    window: "StepWindow", columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Return the rows of a window as `step_timings` has them, in the order of its key.

    Args:
        window: The window.
        columns: Columns that are wanted; without, all but file_id.
    """
    types = StepTimings.create_empty().schema
    wanted = columns or [name for name in types.names() if name != "file_id"]
    fixed = {"run_id": window.run_id, "attempt": window.attempt.number, **_FIXED}
    numbers = {"step", *wanted} - set(fixed)
    # by way of Arrow nothing is copied
    arrays = {name: pa.array(_numbers(window, name)) for name in sorted(numbers)}
    rows = pl.DataFrame(pl.from_arrow(pa.table(arrays)))
    return rows.with_columns(
        pl.lit(value, types[name]).alias(name) for name, value in fixed.items()
    ).select(wanted)


def _numbers(window: "StepWindow", name: str) -> Ints | npt.NDArray[np.int32]:
    """Return a column of numbers."""
    steps, ranks = window.steps, window.ranks
    if name == "step":
        step = window.first_step + np.arange(steps, dtype=np.int64)
        return np.repeat(step, ranks)
    if name == "rank":
        return np.tile(np.arange(ranks, dtype=np.int32), steps)
    return _flat(getattr(window, name.removesuffix("_ns")))


def _flat(array: Ints) -> Ints:
    """Return an array row by row; one in which all ranks are alike is repeated."""
    if array.strides[1] == 0:
        return np.repeat(array[:, 0], array.shape[1])
    return array.reshape(-1)
