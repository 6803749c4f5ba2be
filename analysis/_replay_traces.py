"""Traces that are replayed together: a file for each rank, or each flush of it."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

#: What tells traces apart.
TRACE: Final = ("run_id", "attempt", "trace_id")


class Trace(NamedTuple):
    """One trace, or several that are parts of one.

    Attributes:
        run_id: Run.
        attempt: Attempt of the run.
        trace_ids: Parts; the first names the whole.
        operations: Operations in them. [1]
    """

    run_id: str
    attempt: int
    trace_ids: tuple[str, ...]
    operations: int

    def rows(self, placed: pl.LazyFrame) -> pl.LazyFrame:
        """Return the operations of the trace."""
        mine = (pl.col("run_id") == self.run_id) & (pl.col("attempt") == self.attempt)
        return placed.filter(mine & pl.col("trace_id").is_in(self.trace_ids))

    def steps(self, placed: pl.LazyFrame) -> list[int]:
        """Return the steps of the trace, ascending."""
        steps = self.rows(placed).select("step").unique().collect(engine="streaming")
        return [int(step) for step in steps["step"].sort()]

    def spread(self, steps: list[int], most: int) -> list[int]:
        """Return steps, evenly over the trace, whose operations fit in memory.

        Args:
            steps: Steps of the trace.
            most: Operations to hold. [1]
        """
        return steps[:: -(-self.operations // most)]


def traces_in(placed: pl.LazyFrame) -> Iterator[Trace]:
    """Return the traces of operations, parts together.

    Traces of an attempt are parts of one if no rank goes through a step in two of them,
    and their times are on the calendar: clocks that begin with each file cannot be
    compared.

    Args:
        placed: Rows of Operations, an attempt in each.
    """
    told = (
        placed.group_by(*TRACE, "rank")
        .agg(
            pl.col("step").min().alias("first"),
            pl.col("step").max().alias("last"),
            pl.len().cast(pl.Int64).alias("operations"),
            (pl.col("start_ns").is_not_null() & pl.col("offset_ns").is_null())
            .all()
            .alias("is_dated"),
        )
        .collect(engine="streaming")
    )
    attempts = told.sort(*TRACE, "rank").partition_by(TRACE[:2], maintain_order=True)
    for ranks in attempts:
        run_id, attempt = ranks.select(TRACE[:2]).row(0)
        ids = [str(one) for one in ranks["trace_id"].unique().sort()]
        parts = [tuple(ids)] if _are_parts(ranks) else [(one,) for one in ids]
        counts = dict(
            ranks.group_by("trace_id").agg(pl.col("operations").sum()).iter_rows()
        )
        for part in parts:
            held = sum(int(counts[one]) for one in part)
            yield Trace(str(run_id), int(attempt), part, held)


def _are_parts(ranks: pl.DataFrame) -> bool:
    """Whether all is dated, and no rank goes through a step in two traces."""
    before = pl.col("last").shift(1).over("rank", order_by="first")
    overlaps = ranks.select((pl.col("first") <= before).any()).item()
    return bool(not overlaps and ranks["is_dated"].all())
