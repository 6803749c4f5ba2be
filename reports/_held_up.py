"""Ranks that come last, but wait themselves for one that is late beyond chance."""

from typing import Final

import polars as pl

from reports._numbers import duration
from reports._words import listed

#: Lateness over that of the latest from which a rank looks guilty, too. [1]
_LOOKS_LATE: Final = 0.1

#: Ranks that are named, the latest first.
_MOST: Final = 3


def sentence(late: pl.DataFrame, edges: pl.DataFrame) -> list[str]:
    """Return which ranks look late and were themselves held up; nothing without any.

    Args:
        late: Rows of LateRanks.
        edges: Rows of WaitingEdges.
    """
    who = ["run_id", "attempt"]
    guilty = late.filter("is_late").select(*who, late_rank="rank")
    most = pl.col("late_ns").max().over(who)
    looking = late.filter(
        ~pl.col("is_late"),
        pl.col("late_ns") > 0,
        pl.col("late_ns") >= _LOOKS_LATE * most,
    )
    for_guilty = edges.join(guilty, on=[*who, "late_rank"], how="semi")
    held = looking.join(for_guilty, on=who, suffix="_waited").filter(
        pl.col("rank").is_between("waiting_rank", "waiting_to_rank")
    )
    order = ["late_ns", "wait_ns_waited", *who, "rank", "late_rank"]
    rows = (
        held.sort(order, descending=[True, True, False, False, False, False])
        .unique([*who, "rank"], keep="first", maintain_order=True)
        .to_dicts()
    )
    if not rows:
        return []
    told = [
        f"rank {row['rank']}, which waits itself {duration(row['wait_ns_waited'])} for"
        f" rank {row['late_rank']}"
        for row in rows
    ]
    return [f"Also waited for, but perhaps only held up: {listed(told, _MOST)}."]
