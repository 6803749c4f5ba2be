"""Rows of `step_timings` from arrays of steps and ranks."""

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
import pyarrow as pa

from ingest.synthetic.cluster._felt import Ints
from ingest.tables import StepTimings

if TYPE_CHECKING:
    from ingest.synthetic.cluster.steps import StepWindow

#: Columns of which a window has an array each.
_TIMES: Final = (
    "start",
    "duration",
    "compute",
    "communication",
    "wait",
    "data",
    "checkpoint",
)

#: Columns that are the same in each row.
_FIXED: Final = {
    "wait_scope": "all",
    "clock": "host",
    "scope": "rank",
    "step_count": 1,
    "tokens": None,
}


def frame_of(window: "StepWindow") -> pl.DataFrame:
    """Return the rows of a window as `step_timings` has them, in the order of its key.

    Only file_id is missing.
    """
    steps, ranks = window.steps, window.ranks
    step = window.first_step + np.arange(steps, dtype=np.int64)
    arrays = {name: _flat(getattr(window, name)) for name in _TIMES}
    numbers = {
        "step": pa.array(np.repeat(step, ranks)),
        "rank": pa.array(np.tile(np.arange(ranks, dtype=np.int32), steps)),
        **{f"{name}_ns": pa.array(array) for name, array in arrays.items()},
    }
    # by way of Arrow nothing is copied
    rows = pl.DataFrame(pl.from_arrow(pa.table(numbers)))
    types = StepTimings.create_empty().schema
    fixed = {"run_id": window.run_id, "attempt": window.attempt.number, **_FIXED}
    columns = [name for name in types.names() if name != "file_id"]
    return rows.with_columns(
        pl.lit(value, types[name]).alias(name) for name, value in fixed.items()
    ).select(columns)


def _flat(array: Ints) -> Ints:
    """Return an array row by row; one in which all ranks are alike is repeated."""
    if array.strides[1] == 0:
        return np.repeat(array[:, 0], array.shape[1])
    return array.reshape(-1)
