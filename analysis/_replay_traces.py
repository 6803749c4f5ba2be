"""Traces that are replayed together: a file for each rank, or each flush of it."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from analysis._replay_layers import layers_of
from analysis._replay_steps import NotReplayable, Replay
from analysis._step_times import clock_of

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

    Traces of an attempt are parts of one if none tells again what another has told of
    a rank and step, if they go through no step at different times, and if their times
    are on the calendar: clocks that begin with each file cannot be compared.

    Args:
        placed: Rows of Operations, an attempt in each.
    """
    is_dated = clock_of().is_null().all().alias("is_dated")
    counted = pl.len().cast(pl.Int64).alias("operations")
    told = placed.group_by(TRACE).agg(counted, is_dated).collect(engine="streaming")
    attempts = told.sort(TRACE).partition_by(TRACE[:2], maintain_order=True)
    for traces in attempts:
        run_id, attempt = traces.select(TRACE[:2]).row(0)
        counts = dict(traces.select("trace_id", "operations").iter_rows())
        dated = traces.filter("is_dated")["trace_id"].to_list()
        alone = traces.filter(~pl.col("is_dated"))["trace_id"].to_list()
        together = (
            [tuple(dated)]
            if len(dated) == 1
            else _layers(placed, str(run_id), int(attempt), dated)
        )
        for part in sorted([*together, *((one,) for one in alone)]):
            held = sum(int(counts[one]) for one in part)
            yield Trace(str(run_id), int(attempt), part, held)


def _layers(
    placed: pl.LazyFrame, run_id: str, attempt: int, dated: list[str]
) -> list[tuple[str, ...]]:
    if not dated:
        return []
    rows = Trace(run_id, attempt, tuple(dated), 0).rows(placed)
    end = pl.col("start_ns") + pl.col("duration_ns")
    pieces = rows.group_by(*TRACE, "rank", "step").agg(
        pl.col("start_ns").min(), end_ns=end.max(), rows=pl.len().cast(pl.Int64)
    )
    return layers_of(pieces.collect(engine="streaming"))


def is_in(found: Replay | NotReplayable) -> pl.Expr:
    """Return whether an operation is in what was found, by its own attempt if told.

    Args:
        found: What `replays_of` gave.
    """
    attempt = pl.col("attempt")
    mine = (pl.col("run_id") == found.run_id) & pl.col("trace_id").is_in(found.parts)
    return mine & (attempt.is_null() | (attempt == found.attempt))
