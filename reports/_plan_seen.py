"""Which lines of a plan rest on telemetry, so that nobody planned them."""

import re
from typing import Final

import polars as pl

#: Source of an input that telemetry told, as the card did not.
_LAKE: Final = "(lake "

#: An input that is another line of the plan.
_LINE: Final = re.compile(r"(?:^|; )(\w+) [^;(]+ \(this plan\)")


def with_origin(plan: pl.DataFrame) -> pl.DataFrame:
    """Add `is_seen`: whether a line has an input that was measured.

    Args:
        plan: Rows of Plans of a run, in order of the plan.
    """
    seen: set[str] = set()
    for line, inputs in plan.select("name", "inputs").iter_rows():
        told = inputs or ""
        if _LAKE in told or not seen.isdisjoint(_LINE.findall(told)):
            seen.add(line)
    return plan.with_columns(is_seen=pl.col("name").is_in(list(seen)))
