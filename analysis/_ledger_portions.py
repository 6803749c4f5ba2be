"""Attempts a few at a time, so that the GPUs of a fleet never are in memory at once."""

from collections.abc import Iterator
from typing import Final

import polars as pl

_ATTEMPT: Final = ["run_id", "attempt"]

#: GPUs of attempts that are held at once. Each takes some 1 kB while it is joined. [1]
PORTION_SEATS: Final = 400_000


def portions_of(
    attempts: pl.LazyFrame, sizes: pl.LazyFrame, portion_seats: int
) -> Iterator[pl.LazyFrame]:
    """Part attempts so that those of a portion have so many GPUs together.

    Args:
        attempts: Rows of Attempts.
        sizes: Columns run_id, attempt and seats, in any number of rows. [1]
        portion_seats: GPUs of a portion; those of one attempt are never parted. [1]

    Returns:
        Rows of Attempts in the order of run_id and attempt.
    """
    seats = pl.col("seats").sum().cast(pl.Int64)
    rows = (
        attempts.join(sizes.group_by(_ATTEMPT).agg(seats), on=_ATTEMPT, how="left")
        .sort(_ATTEMPT)
        .with_columns(pl.col("seats").fill_null(0))
    )
    before = pl.col("seats").cum_sum() - pl.col("seats")
    numbered = rows.with_columns(portion=before // portion_seats).collect()
    for portion in numbered.partition_by("portion", maintain_order=True):
        yield portion.lazy().drop("portion", "seats")


def near(rows: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows of a table near some attempts: what a reader need not skip itself.

    Args:
        rows: Columns run_id and attempt, and whatever else.
        attempts: Rows of Attempts; few.
    """
    bounds = attempts.select(
        run_from=pl.col("run_id").min(),
        run_to=pl.col("run_id").max(),
        attempt_from=pl.col("attempt").min(),
        attempt_to=pl.col("attempt").max(),
    ).collect()
    row = bounds.row(0, named=True)
    is_near = pl.col("run_id").is_between(
        pl.lit(row["run_from"]), pl.lit(row["run_to"])
    ) & pl.col("attempt").is_between(row["attempt_from"], row["attempt_to"])
    return rows.filter(is_near)
