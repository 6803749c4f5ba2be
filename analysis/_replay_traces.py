"""Traces that are replayed together: a file for each rank, or each flush of it."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from analysis._replay_layers import layers_of
from analysis._step_times import clock_of
from analysis.placing import place

#: What tells traces apart.
TRACE: Final = ("run_id", "attempt", "trace_id")


class Trace(NamedTuple):
    """One trace, or several that are parts of one.

    Attributes:
        run_id: Run.
        attempt: Attempt of the run.
        parts: Names of the traces, ascending; the first names the whole.
        untold: Those that do not tell the attempt.
        steps: Steps, ascending.
        operations: Operations. [1]
    """

    run_id: str
    attempt: int
    parts: tuple[str, ...]
    untold: tuple[str, ...]
    steps: tuple[int, ...]
    operations: int

    def rows(self, operations: pl.LazyFrame) -> pl.LazyFrame:
        """Return the operations of the trace."""
        told, trace = pl.col("attempt"), pl.col("trace_id")
        mine = (told == self.attempt) & trace.is_in(self.parts)
        untold = told.is_null() & trace.is_in(self.untold)
        return operations.filter((pl.col("run_id") == self.run_id) & (mine | untold))

    def spread(self, most: int) -> tuple[int, ...]:
        """Return steps, evenly over the trace, whose operations fit in memory.

        Args:
            most: Operations to hold. [1]
        """
        return self.steps[:: -(-self.operations // most)]


def traces_in(operations: pl.LazyFrame, attempts: pl.LazyFrame) -> Iterator[Trace]:
    """Return the traces of operations, parts together.

    Traces of an attempt are parts of one if none tells again what another has told of
    a rank and step, if they go through no step at different times, and if their times
    are on the calendar: clocks that begin with each file cannot be compared.

    Args:
        operations: Rows of Operations.
        attempts: Rows of Attempts, for traces that do not tell theirs.
    """
    seen = _seen(operations, attempts)
    for attempt in seen.partition_by(TRACE[:2], maintain_order=True):
        dated = attempt["trace_id"].filter(attempt["is_dated"]).unique().sort()
        others = attempt["trace_id"].filter(~attempt["is_dated"]).unique().sort()
        together = [tuple(dated)] if len(dated) else []
        if len(dated) > 1:
            together = _layers(operations, _whole(attempt, together[0]))
        for parts in sorted([*together, *((one,) for one in others)]):
            yield _whole(attempt, parts)


def _seen(operations: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.DataFrame:
    """Return what there is of each trace and step, and whether all of it is dated."""
    at_ns = pl.coalesce("start_ns", "offset_ns")
    steps = operations.group_by(*TRACE, "step").agg(
        at_ns.min().alias("at_ns"),
        operations=pl.len().cast(pl.Int64),
        is_dated=clock_of().is_null().all(),
    )
    first = pl.col("at_ns").min().over(TRACE)
    whole = pl.col("is_dated").all().over(TRACE)
    told = steps.with_columns(first, whole, is_told=pl.col("attempt").is_not_null())
    placed = place(told.collect(engine="streaming").lazy(), attempts, "at_ns")
    dated = pl.col("is_dated").all().over(TRACE)
    return placed.with_columns(dated).sort(*TRACE, "step", "is_told").collect()


def _whole(attempt: pl.DataFrame, parts: tuple[str, ...]) -> Trace:
    rows = attempt.filter(pl.col("trace_id").is_in(parts))
    run_id, number = rows.select(TRACE[:2]).row(0)
    untold = rows["trace_id"].filter(~rows["is_told"]).unique().sort()
    steps = tuple(int(one) for one in rows["step"].unique().sort())
    held = int(rows["operations"].sum())
    return Trace(str(run_id), int(number), parts, tuple(untold), steps, held)


def _layers(operations: pl.LazyFrame, dated: Trace) -> list[tuple[str, ...]]:
    end = pl.col("start_ns") + pl.col("duration_ns")
    pieces = (
        dated.rows(operations)
        .group_by("trace_id", "rank", "step")
        .agg(pl.col("start_ns").min(), end_ns=end.max(), rows=pl.len().cast(pl.Int64))
    )
    placed = pieces.with_columns(
        run_id=pl.lit(dated.run_id), attempt=pl.lit(dated.attempt)
    )
    return layers_of(placed.collect(engine="streaming"))
