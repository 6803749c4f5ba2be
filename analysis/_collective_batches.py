"""Collectives a batch at a time, whole groups in each."""

from collections.abc import Iterator
from typing import Final

import polars as pl

#: Rows to hold at once; matching a row takes some 600 B.
BATCH_ROWS: Final = 1_000_000

_GROUP: Final = ("run_id", "group_id")


def in_batches(
    collectives: pl.LazyFrame, batch_rows: int = BATCH_ROWS
) -> Iterator[pl.LazyFrame]:
    """Yield the rows of whole groups, at least one, about so many rows at a time.

    Collectives of different groups have nothing to do with each other, so that no more
    than the largest group must fit into memory.

    Args:
        collectives: Rows of Collectives.
        batch_rows: Rows to hold at once. [1]
    """
    counted = collectives.group_by(_GROUP).len("rows").collect(engine="streaming")
    before = pl.col("rows").cast(pl.Int64).cum_sum() - pl.col("rows")
    groups = counted.sort(_GROUP).with_columns(batch=before // batch_rows)
    for batch in groups.partition_by("batch") or [groups]:
        names = batch.lazy().select(_GROUP)
        yield collectives.join(names, on=list(_GROUP), how="semi")
