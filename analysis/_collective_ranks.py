"""What each rank waited for in each collective."""

from collections.abc import Iterator

import polars as pl

from analysis._clock_shifts import Clocks, without_offsets
from analysis._collective_arrivals import with_arrivals
from analysis._collective_batches import BATCH_ROWS, in_batches
from analysis._collective_copies import with_copies
from analysis._collective_instances import told_together
from analysis._collective_matching import INSTANCE, PAIR, match, timed


def rank_waits(
    collectives: pl.LazyFrame, attempts: pl.LazyFrame, clocks: Clocks | None = None
) -> pl.LazyFrame:
    """Return what each rank saw of each collective, and how long it waited there.

    What several traces hold of one rank alike has the same wait in each of them.

    Where all leave together, a rank waits from its arrival to the last one. A receive
    waits for the start of its send. In a broadcast all wait for the root, in a reduce
    only the root waits: where no source names it, their waits are null. So are those of
    collectives that a rank is missing from, of rows that are not surely of one
    collective, and of ranks whose clocks nothing connects.

    The offsets and drifts of clocks are taken out of arrivals and ends. Times of a
    host's clock are no arrivals. Of such rows the duration counts: as all leave
    together, the rank that was in it longest came first.

    Args:
        collectives: Rows of Collectives.
        attempts: Rows of Attempts, for traces that do not tell theirs.
        clocks: What is known of clocks; None: all times are of one clock.

    Returns:
        The rows with `wait_ns`, and what is known of their collective: `instance` (its
        number), `joint` (all leave together), `is_complete`, `doubt`, `ranks_seen`,
        `ranks_expected`, `last_arrival_ns`, `last_left_ns`, `late_ns`, `last_rank`
        and `residual_ns`.
    """
    waits = _waits(collectives, attempts, clocks)
    return with_copies(waits, timed(collectives, attempts))


def waits_in_batches(
    collectives: pl.LazyFrame,
    attempts: pl.LazyFrame,
    clocks: Clocks | None = None,
    batch_rows: int = BATCH_ROWS,
) -> Iterator[pl.LazyFrame]:
    """Yield the waits of whole groups, at least one, about so many rows at a time.

    What several traces hold of one rank alike is in them once: see `rank_waits`.

    Args:
        collectives: Rows of Collectives.
        attempts: Rows of Attempts.
        clocks: What is known of clocks; None: all times are of one clock.
        batch_rows: Rows to hold at once. [1]
    """
    for rows in in_batches(collectives, batch_rows):
        yield _waits(rows, attempts, clocks)


def _waits(
    collectives: pl.LazyFrame, attempts: pl.LazyFrame, clocks: Clocks | None
) -> pl.LazyFrame:
    """Return what `rank_waits` does, each part once."""
    rows = without_offsets(with_arrivals(match(collectives, attempts)), clocks)
    instances = told_together(rows).with_row_index("instance")
    placed = rows.join(instances, on=list(INSTANCE), nulls_equal=True)
    return placed.with_columns(wait_ns=pl.when("is_complete").then(_wait()))


def _wait() -> pl.Expr:
    arrival, stem = pl.col("arrival_ns"), pl.col("stem")
    is_root = pl.col("rank") == pl.col("root")
    until_root = (pl.col("root_arrival_ns") - arrival).clip(0)
    until_all = pl.col("last_arrival_ns") - arrival
    return (
        pl.when("joint")
        .then(until_all)
        .when(pl.col("kind") == PAIR)
        .then(pl.when(stem == "recv").then("late_ns").otherwise(0))
        .when(stem == "broadcast")
        .then(until_root)
        .when(stem == "reduce")
        .then(pl.when(is_root).then(until_all).otherwise(0))
    )
