"""The fewest moments that explain when ranks went back."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import polars as pl

#: Spans that are looked through at first for one that is not explained yet. [1]
_AHEAD: Final = 1_024


def fewest_dates(spans: pl.DataFrame) -> pl.DataFrame:
    """Return the fewest moments so that each span of a run has one of them.

    The end of the span that ends first must be one: no later moment is in that span,
    and an earlier one is in no more of the others. So it is of those spans that do not
    have it, and so on, the greedy piercing of intervals (Gupta, Lee and Leung 1982).

    Args:
        spans: Columns run_id, from_ns, not within the span, and until_ns, within it.

    Returns:
        Columns run_id and restart_ns, sorted.
    """
    found = [pl.DataFrame(schema={"run_id": pl.String, "restart_ns": pl.Int64})]
    for rows in spans.partition_by("run_id"):
        ordered = rows.sort("until_ns", "from_ns")
        ends = ordered["until_ns"].to_numpy()
        dates = list(_pierced(ordered["from_ns"].to_numpy(), ends))
        of_run = pl.lit(rows["run_id"][0]).alias("run_id")
        found.append(pl.DataFrame({"restart_ns": ends[dates]}).select(of_run, pl.all()))
    return pl.concat(found).sort("run_id", "restart_ns")


def _pierced(starts: np.ndarray, ends: np.ndarray) -> Iterator[int]:
    """Yield the spans whose ends are the moments, of spans in order of their ends."""
    at: int | None = 0 if len(ends) else None
    while at is not None:
        yield at
        at = _first_after(starts, at + 1, int(ends[at]))


def _first_after(starts: np.ndarray, begin: int, moment: int) -> int | None:
    """Find the first span from one on that starts at a moment or after it."""
    size = _AHEAD
    while begin < len(starts):
        is_after = starts[begin : begin + size] >= moment
        if is_after.any():
            return begin + int(is_after.argmax())
        begin += size
        size *= 2
    return None
